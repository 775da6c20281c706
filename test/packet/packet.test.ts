/** Packets carry a frame to another machine: the same detections come out, whichever side decodes. */
import { describe, expect, test } from "vitest";
import {
  Detections,
  Packet,
  type TensorInput,
  createDecoderSync,
  fromPacket,
  readModel,
  toPacket,
} from "../../src/entries/index.ts";
import { fnv1a } from "../../src/config/hash.ts";
import { ultralyticsOnnx } from "../support/model-files.ts";
import { about, cases, decoderOf, withFormat, frame, outputsOf, smallNetwork } from "./support.ts";

describe.each(cases.map((c) => [c.name, c] as const))("%s", (_, c) => {
  const outputs = outputsOf(c);
  const frames = decoderOf(c).config.inputSize ? [undefined, frame] : [undefined];
  const local = decoderOf(c);

  test.each(frames)("raw and decoded packets give the local result to the bit, frame %j", (f) => {
    const expected = local.decode(outputs, f).copy();
    expect(expected.length).toBeGreaterThan(0);
    const raw = fromPacket(toPacket(withFormat(decoderOf(c), "raw"), outputs, f, about));
    const decoded = fromPacket(toPacket(withFormat(decoderOf(c), "detection"), outputs, f, about));
    expect([raw.kind, decoded.kind]).toEqual(["raw", "detection"]);
    // Detections that crossed a worker or JSON give the same bytes, apart from the cells that JSON leaves out.
    const clone = fromPacket(toPacket(decoderOf(c), structuredClone(expected), f, about));
    const list = JSON.parse(JSON.stringify(expected)) as ReturnType<typeof expected.toArray>;
    expect(fromPacket(toPacket(decoderOf(c), list, f, about)).detections).toEqual(decoded.detections);
    for (const packet of [raw, decoded, clone]) {
      const host = decoderOf(c);
      const found = host.receive(packet).copy();
      expect(found).toBeInstanceOf(Detections);
      expect(found.toArray()).toEqual(expected.toArray());
      expect(found.sources).toEqual(expected.sources);
      expect(packet.frame).toEqual(f ?? null);
    }
  });

  test("tensors are views of the packet, in the network's order", () => {
    const bytes = toPacket(withFormat(local, "raw"), outputs, null, about);
    const { tensors } = fromPacket(bytes);
    expect(tensors.map((t) => [t.name, t.dims])).toEqual(
      Object.entries(outputs).map(([k, t]) => [k, t.dims]),
    );
    for (const t of tensors) {
      expect(t.data.buffer).toBe(bytes.buffer);
      const { data, scale, zeroPoint } = outputs[t.name] as TensorInput & { data: Float32Array };
      expect(t.data).toEqual(data);
      if (scale !== undefined) expect([t.scale, t.zeroPoint]).toEqual([scale, zeroPoint ?? 0]);
    }
  });
});

const { config, outputs } = smallNetwork();
const decoder = createDecoderSync(config);

test("the envelope comes back", () => {
  const {
    id,
    source,
    subject,
    time,
    sequence,
    traceparent,
    config: hash,
  } = fromPacket(toPacket(decoder, outputs, frame, { ...about, time: new Date(about.time) }));
  expect({ id, source, subject, time, sequence, traceparent }).toEqual(about);
  expect(hash).toBe(decoder.configHash);
  const least = fromPacket(toPacket(decoder, outputs, null, { id: "ä 1", source: "\u{1f4f7}" }));
  expect(least).toMatchObject({ id: "ä 1", source: "\u{1f4f7}", subject: null, time: null, sequence: null });
});

test("wide tensors stand first on the wire and in their own place behind it", () => {
  const mixed = {
    count: { data: Uint8Array.of(1, 2, 3), dims: [3] },
    ids: { data: BigInt64Array.of(5n, -6n), dims: [2] },
    half: { data: Uint16Array.of(0x3c00), dims: [1], type: "f16" },
    short: { data: Uint16Array.of(0x3c00), dims: [1], type: "int16" },
    boxes: { data: Float32Array.of(0.5), dims: [1, 1] },
    list: { data: [1, 2], dims: [2] },
    double: { data: Float64Array.of(0.1), dims: [1] },
    clamped: { data: Uint8ClampedArray.of(9), dims: [1] },
    signed: { data: Uint8Array.of(255), dims: [1], type: "i8", scale: 0.5, zeroPoint: -3, order: "NHWC" },
  } satisfies Record<string, TensorInput>;
  const bytes = toPacket(createDecoderSync({}), mixed, null, about);
  const { tensors } = fromPacket(bytes);
  expect(tensors.map((t) => t.name)).toEqual(Object.keys(mixed));
  expect(tensors.map((t) => t.type)).toEqual([
    "uint8",
    "int64",
    "fp16",
    "int16",
    "fp32",
    "fp32",
    "fp64",
    "uint8",
    "int8",
  ]);
  for (const t of tensors) expect(t.data.buffer, t.name).toBe(bytes.buffer);
  expect(tensors.map((t) => Array.from(t.data as ArrayLike<unknown>))).toEqual([
    [1, 2, 3],
    [5n, -6n],
    [0x3c00],
    [0x3c00],
    [0.5],
    [1, 2],
    [0.1],
    [9],
    [-1],
  ]);
  expect(tensors[8]).toMatchObject({ scale: 0.5, zeroPoint: -3, order: "NHWC" });
  // wire order: by width, then by place
  const wire = [...new TextDecoder().decode(bytes).matchAll(/"datatype":"(\w+)"/g)].map(([, name]) => name);
  expect(wire).toEqual(["INT64", "FP64", "FP32", "FP32", "FP16", "INT16", "UINT8", "UINT8", "INT8"]);
});

test("a list carries its type, and decodes as in this process", () => {
  const normalised = { ...config, coordinates: "normalised" };
  const numbers = Array.from({ length: 5 * 84 }, (_, i) =>
    i % 84 === 0 ? [64, 40, 20, 16, 120][i / 84] : 0,
  );
  const types = [
    ["int8", "int8"],
    ["u8", "uint8"],
    ["i16", "int16"],
    ["int", "int32"],
    ["uint32", "uint32"],
  ] as const;
  for (const [type, wire] of types) {
    const list = { output0: { data: numbers, dims: [1, 5, 84], type, scale: 1 / 128 } };
    const expected = createDecoderSync(normalised).decode(list, frame).copy();
    const packet = fromPacket(toPacket(createDecoderSync(normalised), list, frame, about));
    expect(packet.tensors[0]).toMatchObject({ type: wire, scale: 1 / 128, zeroPoint: 0 });
    expect(Array.from(packet.tensors[0].data as Int8Array)).toEqual(numbers);
    expect(createDecoderSync(normalised).receive(packet).toArray()).toEqual(expected.toArray());
  }
  const floats = fromPacket(
    toPacket(decoder, { output0: { data: numbers, dims: [1, 5, 84] } }, frame, about),
  );
  expect(floats.tensors[0].type).toBe("fp32");
});

test("times: the epoch, leap seconds (RFC 3339, 5.8), before the epoch", () => {
  const times = [
    "1970-01-01T00:00:00Z",
    "1990-12-31T23:59:60Z",
    "1990-12-31T15:59:60-08:00",
    "2016-12-31T23:59:60.500Z",
    "1937-01-01T12:00:27.87+00:20",
  ];
  for (const time of times) {
    expect(fromPacket(toPacket(decoder, outputs, null, { ...about, time })).time).toBe(time);
    expect(fromPacket(toPacket(decoder, decoder.decode(outputs), null, { ...about, time })).time).toBe(time);
  }
  const epoch = fromPacket(toPacket(decoder, outputs, null, { ...about, time: new Date(0) }));
  expect(epoch.time).toBe("1970-01-01T00:00:00.000Z");
});

test("bytes at an odd address are copied, and decode alike", () => {
  const bytes = toPacket(decoder, outputs, frame, about);
  const moved = new Uint8Array(bytes.length + 1).subarray(1);
  moved.set(bytes);
  const packet = fromPacket(moved);
  expect(packet.tensors[0].data.buffer).not.toBe(moved.buffer);
  expect(decoder.receive(packet).toArray()).toEqual(decoder.receive(fromPacket(bytes)).toArray());
});

test("a list of outputs, one tensor and Detections are packets too", () => {
  const [tensor] = Object.values(outputs);
  const one = fromPacket(toPacket(decoder, tensor, frame, about));
  const list = fromPacket(toPacket(decoder, [{ ...tensor, name: "mine" }], frame, about));
  expect([one.tensors[0].name, list.tensors[0].name]).toEqual(["output0", "mine"]);
  const found = decoder.decode(outputs, frame).copy();
  const packet = fromPacket(toPacket(decoder, found, frame, about));
  expect(packet.kind).toBe("detection");
  expect(packet.detections).toEqual(found.toArray());
  expect(decoder.receive(packet).toArray()).toEqual(found.toArray());
  // An empty list may be one of tensors.
  expect(() => toPacket(decoder, [], frame, about)).toThrow("outputs: got [], expected a tensor");
  // labels travel with the records
  const named = createDecoderSync({ ...config, labels: ["cup"] });
  const [cup] = named.receive(fromPacket(toPacket(named, named.decode(outputs), null, about)));
  expect(cup.label).toBe("cup");
});

test("memory is reused if there is room, at a multiple of 8", () => {
  const fresh = toPacket(decoder, outputs, frame, about);
  const memory = new Uint8Array(fresh.length + 100).fill(7);
  const used = toPacket(decoder, outputs, frame, about, memory);
  expect(used.buffer).toBe(memory.buffer);
  expect(used).toEqual(fresh);
  expect(memory[fresh.length]).toBe(7);
  for (const into of [memory.subarray(0, fresh.length - 1), memory.subarray(4)])
    expect(toPacket(decoder, outputs, frame, about, into).buffer).not.toBe(memory.buffer);
  const shared = toPacket(
    decoder,
    outputs,
    frame,
    about,
    new Uint8Array(new SharedArrayBuffer(fresh.length)),
  );
  expect(decoder.receive(fromPacket(shared)).length).toBe(1);
});

describe("the hash of a config", () => {
  test("is FNV-1a, by its published values", () => {
    expect(fnv1a("")).toBe("cbf29ce484222325");
    expect(fnv1a("a")).toBe("af63dc4c8601ec8c");
    expect(fnv1a("foobar")).toBe("85944171f73967e8");
  });
  test("is the same for what decodes alike, and another for what does not", async () => {
    const hash = (json: object, options = {}): string | null => createDecoderSync(json, options).configHash;
    const file = (format: string): object => ({
      NN_config: { output_format: format, NN_family: "YOLO", NN_specific_metadata: { classes: 2 } },
      mappings: { labels: ["a", "b"] },
    });
    expect(hash(file("raw"), { family: "yolov8" })).toBe(hash(file("detection"), { family: "yolov8" }));
    expect(hash({ inputSize: [64, 64], ...config })).toBe(hash(config));
    expect(hash(config, { engine: "ts" })).toBe(hash(config));
    for (const other of [{ classes: 2 }, { iouThreshold: 0.5 }, { labels: ["x"] }, { inputSize: [64, 96] }])
      expect(hash({ ...config, ...other })).not.toBe(hash(config));
    const model = await readModel(ultralyticsOnnx());
    expect(hash(model, { family: "yolo11" })).toBe(hash(model));
    expect(hash(model, { family: "yolo26" })).not.toBe(hash(model));
    const tuned = createDecoderSync(config);
    tuned.update({ confidenceThreshold: 0.75 });
    expect(tuned.configHash).toBe(hash(config));
    expect(hash({})).toBeNull();
    // A change of this value breaks senders and receivers of two versions apart: say so in the changelog.
    expect(hash(config)).toBe("4e7f901704291214");
  });
});

test("a device without a config sends raw, and any host decodes", () => {
  const packet = fromPacket(toPacket(createDecoderSync({}), outputs, frame, about));
  expect([packet.kind, packet.config]).toEqual(["raw", null]);
  expect(decoder.receive(packet).length).toBe(1);
});

test("receive wants a packet", () => {
  expect(() => decoder.receive(new Uint8Array(4) as never)).toThrow(
    /got Uint8Array .*expected what fromPacket/,
  );
  expect(() => decoder.receive(null as never)).toThrow(/got null/);
  expect(fromPacket(toPacket(decoder, outputs, frame, about))).toBeInstanceOf(Packet);
});

test("a packet survives structuredClone as data", () => {
  const packet = fromPacket(toPacket(decoder, decoder.decode(outputs), frame, about));
  expect(structuredClone(packet)).toMatchObject({ ...packet });
});
