/** A packet that is cut off, foreign, from another config or too large is refused with the word for it. */
import { describe, expect, test } from "vitest";
import {
  PacketError,
  type PacketErrorKind,
  TensorError,
  createDecoderSync,
  fromPacket,
  packetHeaders,
  toCoco,
  toPacket,
  toRoboflow,
  toSupervision,
} from "../../src/entries/index.ts";
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

describe("detections of another unit", () => {
  const all = { class_id: 0, label: "0", confidence: 0.5, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 };
  const config = { family: "yolov8", classes: 80, inputSize: [640, 640] } as const;
  const packetOf = (...changes: object[]): Uint8Array => {
    const event = JSON.parse(text(decoded)) as { config?: string };
    const detections = changes.map((change) => ({ ...all, ...change }));
    return bytesOf({ ...event, config: undefined, data: { detections } });
  };
  test.each([
    ["pixels", { x_min: 600, y_min: 30, x_max: 700, y_max: 90 }],
    ["percent", { confidence: 89.7 }],
    ["width and height", { x_max: 0.1, y_max: 0.2 }],
  ])("%s are refused by the receiver", (_, change) => {
    const decoder = createDecoderSync(config);
    expect(() => decoder.receive(fromPacket(packetOf({}, change, change)))).toThrow(
      /^packet is foreign: detections: got {"class_id":0,.*, expected corners and confidence in 0..1$/,
    );
  });
  test("boxes at the edge are taken, and a single one with exchanged corners", () => {
    const packet = packetOf({}, { x_min: -0.5, x_max: 1.5, confidence: 1 }, { x_max: 0.2 });
    expect(createDecoderSync(config).receive(fromPacket(packet)).length).toBe(3);
  });
  test("a class beyond those of the decoder is noted once", () => {
    const notes: string[] = [];
    const decoder = createDecoderSync(config, { onNote: (note) => notes.push(note) });
    for (const id of [79, 80, 999, 999]) decoder.receive(fromPacket(packetOf({ class_id: id })));
    expect(notes).toEqual(["class 999 was found, and there are 80 classes: are they those of this network?"]);
    const named = createDecoderSync(
      { ...config, classes: 2, labels: ["a", "b"] },
      { onNote: (note) => notes.push(note) },
    );
    for (const id of [1, 2]) named.receive(fromPacket(packetOf({ class_id: id })));
    expect(notes.slice(1)).toEqual([
      "class 2 was found, and there are 2 labels: are they those of this network?",
    ]);
  });
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
    ["no JSON", new Uint8Array(40).fill(1), "first byte: got 1, expected { of JSON"],
    ["a list", bytesOf("[1]"), "first byte: got 91"],
    ["an image", Uint8Array.of(0xff, 0xd8, 0xff), "first byte: got 255"],
    ["broken JSON", bytesOf("{1:2}"), "JSON: got {}, expected an event or outputs"],
    ["no UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), "JSON: got {}"],
    ["a server's error", bytesOf({ error: "no such model" }), 'JSON: got {"error":"no such model"}'],
    [
      "another version",
      bytesOf({ ...event, specversion: "2.0" }),
      'type: got ["2.0","boxwright.detection.v1"], expected 1.0,boxwright.detection.v1',
    ],
    ["another event", bytesOf({ ...event, type: "door.opened" }), 'type: got ["1.0","door.opened'],
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
    ["no data", bytesOf({ ...event, data: null }), "data.detections[0]: got nothing, expected a detection"],
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
      "outputs[0]: got [1,[2],{}], expected name, shape",
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
    [
      "a scale of text",
      bytesOf(response({ parameters: { scale: "x" } })),
      'outputs[0]: got ["x",[2],{"scale":"x"}]',
    ],
    ["a place beyond", bytesOf(response({ parameters: { place: 1 } })), "outputs[0]: got"],
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
    [{ sequence: -1 }, "about.sequence: got -1, expected a whole number from 0 up"],
    [{ sequence: 1.5 }, "about.sequence"],
    [{ traceparent: "00-x" }, 'about.traceparent: got "00-x'],
  ])("%j", (change, message) => {
    const run = (): unknown => toPacket(decoder, outputs, frame, { ...about, ...change } as never);
    expect(run).toThrow(RangeError);
    expect(run).toThrow(message);
  });
  test.each([
    [{ data: new Float32Array(3), dims: [4] }, 'tensor "a".binary_data_size: got 12, expected 16'],
    [{ data: new Float32Array(3) }, 'tensor "a"'],
    [{ data: ["a", "b"], dims: [3] }, 'tensor "a"'],
    [{ data: null, dims: [1] }, 'tensor "a"'],
    [
      { data: new Uint16Array(1), dims: [1], type: "uint16" },
      'tensor "a".datatype: got "Uint16Array", expected FP32',
    ],
    [null, 'tensor "a"'],
    // A scale of floats would be lost, and one that is none would be refused far away.
    [{ data: [1, 2], dims: [2], scale: 0.5 }, 'tensor "a": got ["a",[2],{"scale":0.5'],
    [{ data: new Float32Array(2), dims: [2], scale: 0.5 }, 'tensor "a": got ["a",[2],{'],
    [{ data: new Float32Array(2), dims: [2], zeroPoint: 3 }, 'tensor "a"'],
    [{ data: new Int8Array(2), dims: [2], scale: -1 }, 'tensor "a"'],
    [{ data: new Int8Array(2), dims: [2], scale: NaN }, 'tensor "a"'],
    [{ data: new Int8Array(2), dims: [2], scale: 0.5, zeroPoint: Infinity }, 'tensor "a"'],
    [{ data: ["1", "2"], dims: [2] }, 'tensor "a"'],
    [{ data: [1, 2], dims: [2], type: "f16" }, 'tensor "a".data: got [1,2], expected 2 elements of FP16'],
    [{ data: [1, 0.5], dims: [2], type: "i8" }, 'tensor "a".data: got [1,0.5], expected 2 elements of INT8'],
    [{ data: [1, 2], dims: [3] }, 'tensor "a".data: got [1,2], expected 3 elements of FP32'],
    [{ data: [1, 2], dims: [2], scale: [0.5, 0.5], type: "i8" }, 'tensor "a": got ["a",[2]'],
    [
      { data: new DataView(new ArrayBuffer(4)), dims: [1] },
      'tensor "a".datatype: got "DataView", expected FP32',
    ],
  ])("tensor %j", (tensor, message) => {
    const run = (): unknown => toPacket(decoder, { a: tensor } as never, frame, about);
    expect(run).toThrow(RangeError);
    expect(run).toThrow(message);
  });
  test("an array whose memory was transferred", () => {
    const data = new Float32Array(5 * 84);
    structuredClone(data, { transfer: [data.buffer] });
    const run = (): unknown => toPacket(decoder, { output0: { data, dims: [1, 5, 84] } }, frame, about);
    expect(run).toThrow('tensor "output0".binary_data_size: got 0, expected 1680');
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
  [null, `bytes: got "Null", expected a Uint8Array`],
  [{}, `bytes: got "Object", expected a Uint8Array`],
  [new Uint8Array(), "packet is cut off: length: got 0, expected the whole packet"],
  [bytesOf("[]"), "first byte: got 91, expected {"],
  [bytesOf("{x}"), "JSON: got {}, expected an event or outputs"],
  [raw.subarray(0, 20), "packet is cut off: length: got 20, expected the whole packet"],
])("headers of %j, which is no packet", (bytes, message) => {
  expect(errorOf(() => packetHeaders(bytes as never)).message).toContain(message);
});

const image = { imageId: 1, width: 2, height: 3 };
test.each([
  [[[]], "image: got [undefined,undefined], expected its size in pixels"],
  [[[], null], "image: got [undefined,undefined]"],
  [[[], 5], "image: got [undefined,undefined]"],
  [[null, image], "detections[0]: got null, expected a detection"],
  [[{}, image], "detections[0]: got {}, expected a detection"],
  [["ab", image], 'detections[0]: got "ab", expected a detection'],
  [[new Float32Array(1), image], "detections[0]: got 0, expected a detection"],
  [[[null], image], "detections[0]: got null, expected a detection"],
  [
    [[{ class_id: 1, label: "cat", confidence: 1, x_min: 0, y_min: 0, x_max: 1 }], image],
    "detections[0]: got {",
  ],
  [
    [[{ class_id: 1, label: "cat", confidence: 1, x_min: 8, y_min: 4, x_max: 60, y_max: 40 }], image],
    "expected boxes in 0..1, as before toPixels",
  ],
])("exports of %j", (given, message) => {
  for (const convert of [toCoco, toRoboflow, toSupervision])
    expect(errorOf(() => (convert as (...args: unknown[]) => unknown)(...given)).message).toContain(message);
});

describe("arguments that are none", () => {
  const found = decoder.decode(outputs, frame).copy();
  const junk = [
    ...[undefined, null, 0, 5, 5n, NaN, "", "text", true, Symbol("s"), () => 1, {}, [], [1], new Date(NaN)],
    ...[new Map(), new DataView(new ArrayBuffer(8)), new ArrayBuffer(8), new SharedArrayBuffer(8)],
    ...[
      new Float32Array(2),
      new Uint8Array(),
      Buffer.from("xxxx{}").subarray(4),
      found,
      structuredClone(found),
    ],
    ...[raw, decoder, { config: null }, { config: {} }, { width: 5n, height: 5n, resize: "crop" }],
  ];
  /** Each function with arguments that serve. */
  const calls: [string, (...given: never[]) => unknown, unknown[]][] = [
    ["toPacket", toPacket, [decoder, outputs, frame, about]],
    ["toPacket of detections", toPacket, [decoder, found, frame, about]],
    ["fromPacket", fromPacket, [raw, {}]],
    ["packetHeaders", packetHeaders, [raw]],
    ["toCoco", toCoco, [found, image]],
    ["toRoboflow", toRoboflow, [found, image]],
    ["toSupervision", toSupervision, [found, image]],
    [
      "detectionsBy",
      (...given) => fromPacket(raw).detectionsBy(...(given as unknown as [never, never])),
      [decoder],
    ],
  ];
  test.each(calls)("%s", (_, run, right) => {
    expect(() => run(...(right as never[]))).not.toThrow();
    for (const count of right.keys())
      for (const last of [[], ...junk.map((x) => [x])]) {
        const given = [...right.slice(0, count), ...last];
        for (const all of [given, [...given, ...right.slice(given.length)]])
          try {
            run(...(all as never[]));
          } catch (e) {
            const said = `${all.map((x) => Object.prototype.toString.call(x)).join()}: ${String(e)}`;
            expect(e, said).toSatisfy((e) => e instanceof PacketError || e instanceof TensorError);
            expect(String(e), said).toMatch(/got .*/s);
          }
      }
  });
  test.each([
    ["toPacket(detections)", () => toPacket(found as never, ...([] as unknown as [never, never, never]))],
    ["toPacket()", () => toPacket(...([] as unknown as [never, never, never, never]))],
    ["into", () => toPacket(decoder, outputs, frame, about, new ArrayBuffer(9999) as never)],
  ])("%s says what the arguments are", (_, run) => {
    expect(errorOf(run).message).toMatch(
      /^toPacket: got \["\w+","\w+","\w+"\], expected a decoder, tensors or Detections, frame, about, a Uint8Array/,
    );
  });
  test("bytes of another kind are named", () => {
    const message = (bytes: unknown): string => errorOf(() => fromPacket(bytes as never)).message;
    const expected = "expected a Uint8Array, such as new Uint8Array(buffer)";
    expect(message(null)).toBe(`packet is foreign: bytes: got "Null", ${expected}`);
    expect(message(raw.buffer)).toBe(`packet is foreign: bytes: got "ArrayBuffer", ${expected}`);
    expect(message(new SharedArrayBuffer(8))).toContain('got "SharedArrayBuffer"');
    expect(message(new DataView(raw.buffer))).toContain('got "DataView"');
    expect(message(new Float32Array(2))).toContain('got "Float32Array"');
    expect(message(undefined)).toContain('got "Undefined"');
    expect(message("{}")).toContain('got "String"');
  });
  test("no outputs are no packet", () => {
    for (const none of [{}, []])
      expect(errorOf(() => toPacket(decoder, none, frame, about)).message).toMatch(
        /^outputs: got .*, expected a tensor/,
      );
  });
  test("a Buffer that is a part of another, and shared memory, are read", () => {
    const pooled = Buffer.concat([Buffer.alloc(16), raw]).subarray(16);
    expect(decoder.receive(fromPacket(pooled)).length).toBe(1);
    const shared = new Uint8Array(new SharedArrayBuffer(decoded.length));
    shared.set(decoded);
    expect(fromPacket(shared).detections).toHaveLength(1);
  });
  test("a PacketError is a RangeError, and has a kind", () => {
    const error = errorOf(() => toPacket(decoder, outputs, frame, { id: "", source: "s" }));
    expect(error).toBeInstanceOf(RangeError);
    expect([error.name, error.kind]).toEqual(["PacketError", "foreign"]);
  });
});

test("tensors of two images are refused where the packet is made", () => {
  const twice = Object.fromEntries(
    Object.entries(outputs as Record<string, { data: Float32Array; dims: readonly number[] }>).map(
      ([
        name,
        {
          data,
          dims: [, ...dims],
        },
      ]) => {
        const both = new Float32Array(2 * data.length);
        both.set(data);
        both.set(data, data.length);
        return [name, { data: both, dims: [2, ...dims] }];
      },
    ),
  );
  expect(decoder.decodeBatch(twice)).toHaveLength(2);
  for (const given of [twice, Object.values(twice)])
    expect(errorOf(() => toPacket(createDecoderSync(config), given, frame, about)).message).toBe(
      "images in outputs: got 2, expected 1: make a packet of each image",
    );
  const list = {
    dets: { data: new Float32Array(2 * 3 * 5), dims: [2, 3, 5] },
    labels: { data: new Int32Array(2 * 3), dims: [2, 3] },
  };
  const finished = createDecoderSync({ family: "mmdeploy", classes: 4, inputSize: [64, 64] });
  expect(errorOf(() => toPacket(finished, list, null, about)).message).toContain("images in outputs: got 2");
  // Nothing tells a device without a config what a dimension means.
  expect(fromPacket(toPacket(createDecoderSync({}), twice, frame, about)).tensors[0].dims[0]).toBe(2);
});
