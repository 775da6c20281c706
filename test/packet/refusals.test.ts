/** A packet that is cut off, foreign, from another config or too large is refused with the word for it. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import {
  type PacketErrorKind,
  PacketError,
  fromPacket,
  packetHeaders,
  toCoco,
  toPacket,
  toRoboflow,
} from "../../src/entries/packet.ts";
import { about, frame, smallNetwork } from "./support.ts";

const { config, outputs } = smallNetwork();
const decoder = createDecoderSync(config);
const raw = toPacket(decoder, outputs, frame, about);
const decoded = toPacket(decoder, decoder.decode(outputs), frame, about);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytesOf = (json: unknown): Uint8Array =>
  new TextEncoder().encode(typeof json === "string" ? json : JSON.stringify(json));

function errorOf(run: () => unknown): PacketError {
  try {
    run();
  } catch (e) {
    expect(e).toBeInstanceOf(PacketError);
    return e as PacketError;
  }
  return expect.unreachable("nothing was refused");
}

function refusal(bytes: Uint8Array): [PacketErrorKind, string] {
  const { kind, message, name } = errorOf(() => fromPacket(bytes));
  expect(name).toBe("PacketError");
  expect(message).toMatch(/: got .*, expected /);
  return [kind, message];
}

test("every shorter packet is cut off", () => {
  for (let n = 0; n < raw.length; n++) expect(refusal(raw.subarray(0, n))[0], `raw, ${n}`).toBe("cut off");
  const end = text(decoded).trimEnd().length;
  for (let n = 0; n < end; n++) expect(refusal(decoded.subarray(0, n))[0], `decoded, ${n}`).toBe("cut off");
});

test("bytes behind a packet are foreign", () => {
  for (const [packet, more] of [
    [raw, 1],
    [raw, 8],
    [raw, 32],
    [decoded, 1],
  ] as const)
    for (const fill of [0, 120]) {
      const longer = new Uint8Array(packet.length + more).fill(fill);
      longer.set(packet);
      expect(refusal(longer)[0]).toBe("foreign");
    }
});

test("too large", () => {
  const { kind, message } = errorOf(() => fromPacket(raw, { maxBytes: 1000 }));
  expect([kind, message]).toEqual([
    "too large",
    `packet is too large: length: got ${raw.length}, expected at most 1000 bytes`,
  ]);
  expect(fromPacket(raw, { maxBytes: raw.length }).kind).toBe("raw");
  expect(errorOf(() => fromPacket(new Uint8Array(2 ** 26 + 1))).kind).toBe("too large");
});

test("another config", () => {
  const host = createDecoderSync({ ...config, iouThreshold: 0.6 });
  for (const packet of [raw, decoded]) {
    const { kind, message } = errorOf(() => host.receive(fromPacket(packet)));
    expect(kind).toBe("other config");
    expect(message).toBe(
      `packet is other config: config: got "${decoder.configHash}", expected ${host.configHash}, the receiver's. Use the sender's config`,
    );
  }
});

describe("foreign", () => {
  const event = JSON.parse(text(decoded)) as { readonly data: { readonly detections: readonly object[] } };
  const response = (output: object): object => ({
    outputs: [{ name: "x", shape: [2], datatype: "FP32", data: [1, 2], ...output }],
  });
  const record = (change: object): object => ({
    ...event,
    data: { detections: [{ ...event.data.detections[0], ...change }] },
  });
  test.each([
    ["no JSON", new Uint8Array(40).fill(1), 'first byte: got 1, expected JSON, "{"'],
    ["a list", bytesOf("[1]"), "first byte: got 91"],
    ["an image", Uint8Array.of(0xff, 0xd8, 0xff), "first byte: got 255"],
    ["broken JSON", bytesOf("{1:2}"), "JSON: got {}, expected an event or outputs"],
    ["no UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), "JSON: got {}"],
    ["a server's error", bytesOf({ error: "no such model" }), 'JSON: got {"error":"no such model"}'],
    ["another version", bytesOf({ ...event, specversion: "2.0" }), 'specversion: got "2.0", expected 1.0'],
    ["another event", bytesOf({ ...event, type: "door.opened" }), 'type: got "door.opened'],
    ["no id", bytesOf({ ...event, id: undefined }), "id: got null, expected text of 1 to 1024 characters"],
    ["an empty source", bytesOf({ ...event, source: "" }), 'source: got ""'],
    ["a long subject", bytesOf({ ...event, subject: "x".repeat(1025) }), 'subject: got "xxx'],
    ["a new line in an id", bytesOf({ ...event, id: "1\r\nhost: x" }), 'id: got "1'],
    [
      "half of a pair",
      bytesOf('{"specversion":"1.0","type":"boxwright.detection.v1","id":"\\ud800"}'),
      "id: got",
    ],
    ["a number for an id", bytesOf({ ...event, id: 7 }), "id: got 7"],
    ["a time without an offset", bytesOf({ ...event, time: "2026-01-31T12:00:00" }), 'time: got "2026'],
    ["a month of its own", bytesOf({ ...event, time: "2026-13-31T12:00:00Z" }), 'time: got "2026-13'],
    ["a hash", bytesOf({ ...event, config: "abc" }), 'config: got "abc'],
    ["no data", bytesOf({ ...event, data: null }), "data.detections: got nothing, expected a list"],
    [
      "a record that is none",
      bytesOf({ ...event, data: { detections: [null] } }),
      "data.detections[0]: got null",
    ],
    ["NaN", bytesOf(record({ x_min: null })), "data.detections[0]: got {"],
    ["text", bytesOf(record({ confidence: "0.5" })), "data.detections[0]"],
    ["a class below 0", bytesOf(record({ class_id: -1 })), "data.detections[0]"],
    ["half a class", bytesOf(record({ class_id: 0.5 })), "data.detections[0]"],
    ["a class of a billion", bytesOf(record({ class_id: 1e9 })), "data.detections[0]"],
    ["no label", bytesOf(record({ label: undefined })), "data.detections[0]"],
    [
      "a frame",
      bytesOf({ ...event, data: { frame: { width: 0, height: 1 }, detections: [] } }),
      "frame: got",
    ],
    [
      "another datatype",
      bytesOf(response({ datatype: "BF16" })),
      'outputs[0].datatype: got "BF16", expected FP32,',
    ],
    [
      "a name of objects",
      bytesOf(response({ datatype: "constructor" })),
      'outputs[0].datatype: got "constructor',
    ],
    [
      "a number for a name",
      bytesOf(response({ name: 1 })),
      "outputs[0]: got [1,[2]], expected name and shape",
    ],
    ["a size below 0", bytesOf(response({ shape: [-2, -1] })), "outputs[0]: got"],
    ["half a size", bytesOf(response({ shape: [0.5, 4] })), "outputs[0]: got"],
    ["too many elements", bytesOf(response({ shape: [2 ** 30, 2 ** 30] })), "outputs[0]: got"],
    [
      "too few values",
      bytesOf(response({ data: [1] })),
      "outputs[0].data: got [1], expected 2 elements of FP32",
    ],
    ["text among values", bytesOf(response({ data: [1, "2"] })), "outputs[0].data"],
    ["FP16 as JSON", bytesOf(response({ datatype: "FP16" })), "outputs[0].data: got [1,2]"],
    ["fractions", bytesOf(response({ datatype: "INT32", data: [1, 0.5] })), "outputs[0].data"],
    ["no values", bytesOf(response({ data: undefined })), "outputs[0].data: got nothing"],
    ["a wrong length", bytesOf(response({ parameters: { binary_data_size: 9 } })), "binary_data_size: got 9"],
    ["a scale of text", bytesOf(response({ parameters: { scale: "x" } })), "outputs[0].parameters: got"],
    ["a place beyond", bytesOf(response({ parameters: { place: 1 } })), "outputs[0].parameters: got"],
    ["no outputs of ours", bytesOf({ outputs: [null] }), "outputs[0].datatype: got nothing"],
  ])("%s", (_, bytes, message) => {
    const [kind, said] = refusal(bytes);
    expect(kind).toBe("foreign");
    expect(said).toContain(`packet is foreign: `);
    expect(said).toContain(message);
  });

  test("a frame that no decoder can undo", () => {
    const bytes = Buffer.from(toPacket(decoder, outputs, { ...frame, resize: "crop" }, about));
    bytes.write("fold", bytes.indexOf("crop"));
    const packet = fromPacket(Uint8Array.from(bytes));
    expect(errorOf(() => decoder.receive(packet)).message).toMatch(/foreign: frame: got resize "fold"/);
  });
  test("what is no Uint8Array", () => {
    for (const x of [null, undefined, 5, 5n, "packet", new ArrayBuffer(8), new Float32Array(2)])
      expect(errorOf(() => fromPacket(x as never)).kind).toBe("foreign");
  });
  test("tensors of another network are the decoder's to refuse", () => {
    const other = { output0: { data: new Float32Array(21), dims: [3, 7] } };
    const packet = fromPacket(toPacket(createDecoderSync({}), other, frame, about));
    expect(() => decoder.receive(packet)).toThrow(/tensor|output/);
  });
});

describe("toPacket refuses what a reader would refuse", () => {
  test.each([
    [{ id: "" }, 'about.id: got "", expected text'],
    [{ id: undefined }, "about.id: got null"],
    [{ source: "a\nb" }, 'about.source: got "a'],
    [{ time: "yesterday" }, 'about.time: got "yesterday'],
    [{ time: new Date(NaN) }, 'about.time: got "null"'],
    [{ time: 0 }, "about.time: got 0"],
    [{ time: "2026-01-31T12:00:61Z" }, 'about.time: got "2026'],
    [{ sequence: -1 }, 'about.sequence: got "00000000000000-1'],
    [{ sequence: 1.5 }, "about.sequence"],
    [{ traceparent: "00-x" }, 'about.traceparent: got "00-x'],
  ])("%j", (change, message) => {
    const run = (): unknown => toPacket(decoder, outputs, frame, { ...about, ...change } as never);
    expect(run).toThrow(RangeError);
    expect(run).toThrow(message);
  });
  test.each([
    [{ data: new Float32Array(3), dims: [4] }, 'tensor "a": got [null,3,[4]'],
    [{ data: new Float32Array(3) }, 'tensor "a"'],
    [{ data: ["a", "b"], dims: [3] }, 'tensor "a"'],
    [{ data: null, dims: [1] }, 'tensor "a"'],
    [{ data: new Uint16Array(1), dims: [1], type: "uint16" }, 'tensor "a": got ["uint16"'],
    [null, 'tensor "a"'],
    // A scale of floats would be lost, and one that is none would be refused far away.
    [{ data: [1, 2], dims: [2], scale: 0.5 }, 'tensor "a": got [null,2,[2],0.5'],
    [{ data: new Float32Array(2), dims: [2], scale: 0.5 }, 'tensor "a": got [null,2,[2],0.5'],
    [{ data: new Float32Array(2), dims: [2], zeroPoint: 3 }, 'tensor "a"'],
    [{ data: new Int8Array(2), dims: [2], scale: -1 }, 'tensor "a"'],
    [{ data: new Int8Array(2), dims: [2], scale: NaN }, 'tensor "a"'],
    [{ data: new Int8Array(2), dims: [2], scale: 0.5, zeroPoint: Infinity }, 'tensor "a"'],
    [{ data: ["1", "2"], dims: [2] }, 'tensor "a"'],
    [{ data: [1, 2], dims: [2], type: "f16" }, 'tensor "a": got ["f16"'],
    [{ data: [1, 2], dims: [2], type: "i64" }, 'tensor "a": got ["i64"'],
  ])("tensor %j", (tensor, message) => {
    const run = (): unknown => toPacket(decoder, { a: tensor } as never, frame, about);
    expect(run).toThrow(RangeError);
    expect(run).toThrow(message);
  });
  test("an array whose memory was transferred", () => {
    const data = new Float32Array(5 * 84);
    structuredClone(data, { transfer: [data.buffer] });
    const run = (): unknown => toPacket(decoder, { output0: { data, dims: [1, 5, 84] } }, frame, about);
    expect(run).toThrow('tensor "output0": got [null,0,[1,5,84]');
  });
  test.each([
    [{ ...frame, width: 0 }],
    [{ ...frame, height: NaN }],
    [{ ...frame, width: Infinity }],
    [{ ...frame, width: "1280" }],
    [{ ...frame, resize: "fold" }],
    [{ ...frame, resize: undefined }],
    [{ ...frame, placed: [0, 0, 64] }],
    [{ ...frame, placed: [0, NaN, 64, 36] }],
    [{ ...frame, placed: null }],
    [{ ...frame, placed: { length: 4 } }],
    [[frame]],
    [false],
  ])("frame %j, raw and decoded", (wrong) => {
    for (const given of [outputs, decoder.decode(outputs, frame).copy()]) {
      const run = (): unknown => toPacket(decoder, given, wrong as never, about);
      expect(run).toThrow(RangeError);
      expect(run).toThrow(/^frame: got .*, expected /);
    }
  });
  test("no about", () => {
    expect(() => toPacket(decoder, outputs, frame, undefined as never)).toThrow(/about.id: got null/);
  });
});

test.each([
  [null, "bytes: got null, expected a packet that toPacket made"],
  [{}, "bytes: got nothing, expected a packet"],
  [new Uint8Array(), "bytes: got 0, expected a packet"],
  [bytesOf("[]"), "bytes: got 2, expected a packet"],
  [bytesOf("{x}"), "bytes: got 3, expected a packet"],
  [raw.subarray(0, 20), "bytes: got 20, expected a packet"],
])("headers of %j, which is no packet", (bytes, message) => {
  expect(errorOf(() => packetHeaders(bytes as never)).message).toContain(message);
});

test.each([
  [[[]], "image: got [null,null], expected its size in pixels"],
  [[[], null], "image: got [null,null]"],
  [[null, { imageId: 1, width: 2, height: 3 }], "detections: got null, expected a list"],
  [[{}, { imageId: 1, width: 2, height: 3 }], "detections: got {}, expected a list"],
  [[[null], { imageId: 1, width: 2, height: 3 }], "detections: got null, expected objects"],
])("COCO results of %j", (given, message) => {
  for (const convert of [toCoco, toRoboflow]) {
    const run = (): unknown => (convert as (...args: unknown[]) => unknown)(...given);
    expect(run).toThrow(RangeError);
    expect(run).toThrow(message);
  }
});
