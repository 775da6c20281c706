/**
 * Decoders of plan files: as those of the configs that the files were made from, and what is said of files and tensors
 * that do not fit.
 */
import { describe, expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { crc32 } from "../../src/core/crc32.ts";
import {
  ConfigError,
  type Detections,
  TensorError,
  createDecoderSync,
  fromPacket,
  toPacket,
} from "../../src/entries/index.ts";
import { compilePlan as compileBytes } from "../../src/entries/node.ts";
import { type LoadOptions, loadPlan, loadPlanSync } from "../../src/entries/plan.ts";
import * as F from "../../src/planfile/format.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import type { ElementType, TensorInput } from "../../src/core/tensor.ts";
import { enginesOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";
import {
  encode,
  fills,
  givenPriors,
  kinds,
  mulberry32,
  numbersOf,
  quantisation,
} from "../support/seeded-networks.ts";

const columns = (all: Detections | readonly Detections[]) =>
  [all].flat().map(({ length: n, boxes, scores, classIds, sources }) => ({
    boxes: boxes.slice(0, 4 * n),
    scores: scores.slice(0, n),
    classIds: classIds.slice(0, n),
    sources: sources.slice(0, n),
  }));

type Tensors = Readonly<Record<string, TensorInput>>;

/** Outputs beforehand: the tensors without their data. */
const headsOf = (tensors: Tensors): DecoderOptions["outputs"] =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, { data, ...head }]) => {
      expect(data.length).toBeGreaterThan(0);
      return [name, head];
    }),
  );

const planOf = (config: unknown, tensors: Tensors, options: DecoderOptions = {}): Uint8Array<ArrayBuffer> =>
  compilePlan(config, { ...options, outputs: headsOf(tensors) }, (name) => tensors[name].data as Float32Array)
    .bytes;

/** A head of rows with four boxes, of which two are kept. */
const CONFIG = {
  family: "yolov8",
  classes: 2,
  inputSize: [64, 64] as const,
  labels: ["cat", "\u{1f43c}"],
  reading: "class-rows",
};
const ROWS = Float32Array.of(
  ...[32, 32, 20, 20, 0.9, 0.1],
  ...[33, 32, 20, 20, 0.8, 0.2],
  ...[12, 12, 8, 8, 0.1, 0.7],
  ...[50, 50, 8, 8, 0.1, 0.2],
);
const OUT: TensorInput = { data: ROWS, dims: [1, 4, 6] };
const plan = (): Uint8Array<ArrayBuffer> => planOf(CONFIG, { out: OUT });

describe("answers as the decoder of its config, to the bit", () => {
  const types: readonly ElementType[] = ["f32", "f16", "u8", "i8", "i16", "i32"];
  test.each(Object.keys(kinds))("%s", (kind) => {
    let detections = 0;
    types.forEach((type, t) => {
      const batch = t % 3 === 1 && kind !== "detection-output" ? 2 : 1;
      const size = {
        w: 9,
        h: 7,
        classes: /blazeface|one class/.test(kind) ? 1 : 5,
        batch,
        last: t % 2 === 0,
      };
      const made = kinds[kind](size);
      const tensors: Record<string, TensorInput> = {};
      const random = mulberry32(100 + t);
      for (const part of made.tensors) {
        // columns of labels, markers and counts are floats in every network that has them
        const own = part.parts.some((p) => !["box", "score", "objectness"].includes(p)) ? "f32" : type;
        const q = quantisation(own, made.probabilities);
        const numbers = numbersOf(part, random, fills[t % 2], made, size.classes);
        tensors[part.spec.name] = {
          ...part.spec,
          ...q,
          type: own,
          data: encode(numbers, own, q.scale, q.zeroPoint),
        };
      }
      const whole = createDecoderSync(made.config, { engine: "scalar", outputs: headsOf(tensors) });
      let bytes;
      try {
        bytes = planOf(made.config, tensors);
      } catch (e) {
        // not every kind comes in every type and as a batch; then the decoder refuses in the same words
        expect(() => createDecoderSync(made.config).decode(tensors)).toThrow((e as Error).message);
        return;
      }
      const want = columns(whole.decodeBatch(tensors));
      const frame = {
        width: 300,
        height: 200,
        resize: made.config["inputSize"] ? "letterbox" : "stretch",
      } as const;
      const framed = columns(whole.decodeBatch(tensors, frame));
      for (const image of want) detections += image.scores.length;
      for (const engine of enginesOf(t)) {
        const decoder = loadPlanSync(bytes, { engine });
        const decode = (...args: Parameters<typeof decoder.decode>) => columns(decoder.decodeBatch(...args));
        expect(decode(tensors), engine).toEqual(want);
        expect(decode(undefined, frame)).toEqual(framed);
        expect(
          decode(
            Object.entries(tensors)
              .map(([name, t]) => ({ ...t, name }))
              .reverse(),
          ),
        ).toEqual(want);
        for (const [name, t] of Object.entries(tensors))
          if (decoder.slots[name]) decoder.slots[name].data.set(t.data as Float32Array);
        expect(decode()).toEqual(want);
        expect(decoder.stats).toMatchObject({
          frames: 4,
          candidates: whole.stats.candidates,
          dropped: whole.stats.dropped,
        });
        expect(decoder.engine).toBe(engine);
      }
    });
    expect(detections).toBeGreaterThan(0);
  });

  test("priors that the network gives are in the plan: their tensor need not come again", () => {
    const random = mulberry32(4);
    const floats = (n: number): Float32Array => Float32Array.from({ length: n }, random);
    const tensors = {
      b: { data: floats(24), dims: [1, 6, 4] },
      s: { data: floats(12), dims: [1, 6, 2] },
      p: { data: floats(24), dims: [1, 6, 4] },
    };
    const want = createDecoderSync(givenPriors).decode(tensors);
    expect(want.length).toBeGreaterThan(0);
    const { b, s } = tensors;
    const decoder = loadPlanSync(planOf(givenPriors, tensors));
    expect(columns(decoder.decode(tensors))).toEqual(columns(want));
    expect(columns(decoder.decode({ b, s }))).toEqual(columns(want));
  });
});

describe("compiling", () => {
  const outputs = {
    b: { dims: [1, 6, 4] },
    s: { dims: [1, 6, 2] },
    p: { dims: [1, 6, 4], type: "f32" as const },
  };
  const priors = Float32Array.from({ length: 24 }, mulberry32(6));
  const bytes = compileBytes(givenPriors, { outputs }, { p: priors });

  test("priors may be an array or a tensor", () => {
    expect(compileBytes(givenPriors, { outputs }, { p: { data: priors } })).toEqual(bytes);
  });

  test("values that are not those of the output are refused", () => {
    for (const [type, p, message] of [
      ["f16", priors, 'tensor "p": got Float32Array data, expected Uint16Array data for its type "f16"'],
      ["f32", priors.subarray(1), 'tensor "p": got 23 elements, expected 24'],
      [
        "f32",
        new BigInt64Array(24),
        'tensor "p": got BigInt64Array data, expected Float32Array data for its type "f32"',
      ],
    ] as const)
      expect(() =>
        compileBytes(givenPriors, { outputs: { ...outputs, p: { ...outputs.p, type } } }, { p }),
      ).toThrow(message);
    for (const none of [null, {}])
      expect(() => compileBytes(givenPriors, { outputs }, none as never)).toThrow(/priors \(got none/);
  });

  test("labels are whole characters", () => {
    const rows = { out: { dims: [1, 4, 6] } };
    expect(() => compileBytes({ ...CONFIG, labels: ["\ud83d", "b"] }, { outputs: rows })).toThrow(
      'label: got "\\ud83d", expected text without a zero character, which ends a string in C, and without halves',
    );
  });
});

describe("a plan decoder", () => {
  test("says what the plan says, and detections have its labels", async () => {
    const decoder = await loadPlan(plan());
    expect(decoder.inputSize).toEqual([64, 64]);
    expect(decoder.labels).toEqual(["cat", "\u{1f43c}"]);
    expect(decoder.slots.out).toMatchObject({ dims: [1, 4, 6], type: "f32" });
    expect(
      decoder
        .decode({ out: OUT })
        .toArray()
        .map((d) => [d.label, d.class_id]),
    ).toEqual([
      ["cat", 0],
      ["\u{1f43c}", 1],
    ]);
    const none = loadPlanSync(
      planOf({ ...CONFIG, inputSize: undefined, labels: undefined, coordinates: "normalised" }, { out: OUT }),
    );
    expect(none.labels).toBeNull();
    expect(none.inputSize).toBeNull();
  });

  test("the plan may be an ArrayBuffer, lie at any address, and have other things behind it", () => {
    const bytes = plan();
    const moved = new Uint8Array(bytes.length + 9).fill(7);
    moved.set(bytes, 3);
    for (const given of [bytes.buffer, moved.subarray(3), Buffer.from(bytes)])
      expect(loadPlanSync(given).decode([OUT]).length).toBe(2);
  });

  test("thresholds of suppression change between frames; the confidence is the plan's", () => {
    const decoder = loadPlanSync(plan());
    decoder.update({ iouThreshold: 0.95 });
    expect(decoder.decode([OUT]).length).toBe(3);
    decoder.update({ iouThreshold: 0.45, maxDetections: 1 });
    expect(decoder.decode([OUT]).length).toBe(1);
    for (const [thresholds, message] of [
      [{ iouThreshold: 2 }, "iouThreshold: got 2, expected a number in 0..1"],
      [{ iouThreshold: NaN }, "iouThreshold: got NaN, expected a number in 0..1"],
      [{ maxDetections: 301 }, "maxDetections: got 301, expected 1..300, the bound given at creation"],
      [{ maxDetections: 0.5 }, "maxDetections: got 0.5, expected 1..300"],
      [
        { confidenceThreshold: 0.5 },
        "confidenceThreshold: got a change, expected none: it is part of the plan",
      ],
      [
        { iou: 0.5 },
        "iou: got an unknown name, expected one of confidenceThreshold, iouThreshold, maxDetections",
      ],
      [{ iouThreshold: "0.5" }, 'iouThreshold: got "0.5", expected a number in 0..1'],
      [{ iouThreshold: 1n }, "iouThreshold: got 1n, expected a number in 0..1"],
      [{ maxDetections: [2] }, "maxDetections: got [2], expected 1..300"],
      [{ iouThreshold: 0.95, maxDetections: 999 }, "maxDetections: got 999"],
      [{ maxDetections: 2, iou: 1 }, "iou: got an unknown name"],
      [5, "got 5, expected an object"],
      [[], "got [], expected an object"],
    ] as const)
      expect(() => decoder.update(thresholds as object)).toThrow(message);
    // of what was refused nothing holds, and what is not said stays
    for (const nothing of [undefined, null, {}, { iouThreshold: null, maxDetections: undefined }])
      decoder.update(nothing as object);
    expect(decoder.decode([OUT]).length).toBe(1);
    decoder.update({ maxDetections: 300 });
    expect(decoder.decode([OUT]).length).toBe(2);
  });

  test("of several tensors in a list, those with names go by them, those without by the plan's order", () => {
    const random = mulberry32(8);
    const tensors = {
      loc: { data: Float32Array.from({ length: 40 }, random), dims: [1, 10, 4] },
      conf: { data: Float32Array.from({ length: 20 }, random), dims: [1, 10, 2] },
    };
    const config = { family: "boxes", classes: 2, coordinates: "normalised" };
    const decoder = loadPlanSync(planOf(config, tensors));
    const want = columns(createDecoderSync(config).decode(tensors));
    expect(want[0].scores.length).toBeGreaterThan(0);
    const { loc, conf } = tensors;
    expect(columns(decoder.decode([loc, conf]))).toEqual(want);
    // one that the plan leaves alone has its place in the list
    const other = { data: new Float32Array(3), dims: [3] };
    const given = { b: conf, a: other, c: loc };
    const more = loadPlanSync(planOf({ ...config, roles: { boxes: "c", scores: "b" } }, given));
    expect(columns(more.decode([conf, other, loc]))).toEqual(want);
    expect(
      columns(
        decoder.decode([
          { ...other, name: "other" },
          { ...conf, name: "conf" },
          { ...loc, name: "loc" },
        ]),
      ),
    ).toEqual(want);
    expect(() => decoder.decode([loc])).toThrow(
      'tensor "loc": got a list of 1 without names, expected 2 as the network gives them, or names',
    );
    expect(() => decoder.decode([{ ...loc, name: "loc" }])).toThrow(
      'tensor "conf" is missing: got outputs loc.',
    );
    // as many as the network has, by names that are not its own
    expect(
      columns(
        decoder.decode([
          { ...loc, name: "x" },
          { ...conf, name: null as never },
        ]),
      ),
    ).toEqual(want);
  });

  test("tensors of another shape, type or scale are refused, and nothing is written", () => {
    const bytes = planOf(CONFIG, {
      out: { data: new Uint8Array(24), dims: [1, 4, 6], type: "u8" as const, scale: 0.1, zeroPoint: 3 },
    });
    const decoder = loadPlanSync(bytes);
    const data = new Uint8Array(24).fill(255);
    const out = { data, dims: [1, 4, 6] };
    for (const [outputs, message] of [
      [{}, 'tensor "out" is missing: got outputs none.'],
      [{ out0: out }, 'tensor "out" is missing: got outputs out0.'],
      [{ out: null }, 'tensor "out": got null, expected {data, dims}'],
      [null, "got null, expected the outputs"],
      [data, "expected the outputs: an array or a record of {data, dims}"],
      [
        { out: { ...out, dims: [1, 6, 4] } },
        'tensor "out": got dims [1,6,4], expected [1,4,6] as in the plan',
      ],
      [{ out: { ...out, data: data.subarray(1) } }, "got 23 elements, expected 24 for dims [1,4,6]"],
      [
        { out: { ...out, data: new Float32Array(24) } },
        'tensor "out": got type f32, expected u8 as in the plan',
      ],
      [{ out: { ...out, type: "i8" } }, 'tensor "out": got type i8, expected u8 as in the plan'],
      [
        { out: { ...out, scale: 0.2 } },
        "got scale 0.20000000298023224, expected 0.10000000149011612 as in the plan",
      ],
      [{ out: { ...out, zeroPoint: 4 } }, 'tensor "out": got zeroPoint 4, expected 3 as in the plan'],
    ] as const) {
      expect(() => decoder.decode(outputs as never), message).toThrow(TensorError);
      expect(() => decoder.decode(outputs as never)).toThrow(message);
    }
    expect(decoder.slots.out.data).toEqual(new Uint8Array(24));
    // as a double, and as the bytes that a file gives: those of the plan
    expect(
      decoder.decode({
        out: { ...out, data: new Uint8ClampedArray(24), scale: 0.1, zeroPoint: 3 },
      }).length,
    ).toBe(0);
    const two = {
      loc: { ...OUT, data: new Float32Array(12), dims: [1, 3, 4] },
      conf: { ...OUT, data: new Float32Array(6).fill(1), dims: [1, 3, 2] },
    };
    const both = loadPlanSync(planOf({ family: "boxes", classes: 2, coordinates: "normalised" }, two));
    expect(() => both.decode({ ...two, loc: { ...two.loc, dims: [1, 12] } })).toThrow('tensor "loc"');
    expect(() => both.decode({ ...two, conf: { ...two.conf, dims: [1, 6] } })).toThrow('tensor "conf"');
    expect(both.slots.conf.data).toEqual(new Float32Array(6));
  });

  test("scores that are no probabilities are told", () => {
    const data = ROWS.slice();
    data[4] = 3;
    for (const engine of engines)
      expect(() => loadPlanSync(plan(), { engine }).decode({ out: { ...OUT, data } })).toThrow(
        "got a score outside 0..1, expected probabilities, or, where the network gives logits, a plan compiled",
      );
  });

  test("a scale and a zero point are compared as memory holds them", () => {
    const out = { dims: [1, 4, 6], type: "u8" as const, scale: 0.01, zeroPoint: 0.1 };
    const decoder = loadPlanSync(compilePlan(CONFIG, { outputs: { out } }).bytes);
    const data = new Uint8Array(24);
    expect(decoder.decode({ out: { ...out, data } }).length).toBe(0);
    // 0 is how runtimes say none: the plan's holds
    expect(decoder.decode({ out: { ...out, data, scale: 0 } }).length).toBe(0);
    for (const scale of ["0.01", 0.02, 1n, NaN])
      expect(() => decoder.decode({ out: { ...out, data, scale: scale as number } }), String(scale)).toThrow(
        TensorError,
      );
    // floats have neither
    const floats = loadPlanSync(plan());
    for (const more of [{ scale: 0.5 }, { zeroPoint: 3 }])
      expect(() => floats.decode({ out: { ...OUT, ...more } })).toThrow(
        "expected neither: they are of integers",
      );
    expect(floats.decode({ out: { ...OUT, scale: 0, zeroPoint: 0 } }).length).toBe(2);
  });

  test("a tensor said to be in another order than at compile is refused", () => {
    const outputs = { o: { dims: [1, 7, 7, 7], order: "NCHW" as const } };
    const config = {
      family: "yolov5",
      classes: 2,
      inputSize: [224, 224],
      anchors: [[10, 14]],
      scores: "probabilities",
    };
    const decoder = loadPlanSync(compilePlan(config, { outputs }).bytes);
    const o = { data: new Float32Array(343), dims: [1, 7, 7, 7] };
    expect(decoder.decode({ o }).length).toBe(0);
    expect(decoder.decode({ o: { ...o, order: "NCHW" } }).length).toBe(0);
    expect(() => decoder.decode({ o: { ...o, order: "NHWC" } })).toThrow(
      'tensor "o": got order nhwc, expected nchw as in the plan',
    );
    expect(() => loadPlanSync(plan()).decode({ out: { ...OUT, order: "planes" } })).toThrow(
      "got order planes, expected none as in the plan",
    );
  });

  test("a refusal leaves the slots as they were", () => {
    const roles = { boxes: "b", scores: "s", classIds: "l" };
    const config = { family: "boxes", classes: 9, coordinates: "normalised", roles };
    const b = { data: new Float32Array(12).fill(0.5), dims: [1, 3, 4] };
    const s = { data: Float32Array.of(0.9, 0.8, 0.7), dims: [1, 3] };
    const l = { data: Int32Array.of(1, 2, 3), dims: [1, 3], type: "i32" as const };
    const byPlan = loadPlanSync(planOf(config, { b, s, l }));
    const byConfig = createDecoderSync(config, { outputs: headsOf({ b, s, l }) });
    for (const decoder of [byPlan, byConfig]) {
      decoder.decode({ b, s, l });
      const zeros = { b: { ...b, data: new Float32Array(12) }, s: { ...s, data: new Float32Array(3) } };
      const long = { ...l, type: "int64" as const, data: BigInt64Array.of(7n, 2n ** 40n, 3n) };
      expect(() => decoder.decode({ ...zeros, l: long })).toThrow(
        'tensor "l": got 1099511627776 as element 1, expected a whole number of i32, -2147483648..2147483647',
      );
      const unsigned = { ...l, type: "u32" as const, data: Uint32Array.of(1, 2, 2 ** 31) };
      expect(() => decoder.decode({ ...zeros, l: unsigned })).toThrow("got 2147483648 as element 2");
      expect(() => decoder.decode({ b, l, s: { ...s, data: [0.5, 1n, 2] as never } })).toThrow(
        'tensor "s": got 1 as element 1, expected a number',
      );
      expect(decoder.slots.l.data).toEqual(l.data);
      expect(decoder.slots.s.data).toEqual(s.data);
      expect(decoder.slots.b.data).toEqual(b.data);
    }
    const none = { b, s: { ...s, data: new Float32Array(3) }, l };
    expect(() => byPlan.decode(none, { width: 0, height: 0, resize: "stretch" })).toThrow(
      "frame: got width 0",
    );
    expect(byPlan.slots.s.data).toEqual(s.data);
  });

  test("what it says of itself cannot be changed", () => {
    const decoder = loadPlanSync(plan());
    for (const list of [decoder.inputSize, decoder.labels, decoder.slots.out.dims])
      expect(Object.isFrozen(list)).toBe(true);
  });

  test("options are those of the plan, but for the engine", () => {
    for (const [options, message] of [
      [
        { engin: "ts" },
        "options.engin: got an unknown name, expected one of engine, onNote, fresh, tasks: all else is part of the plan; did you mean engine?",
      ],
      [{ confidenceThreshold: 0.9 }, "options.confidenceThreshold: got an unknown name"],
      ["ts", 'options: got "ts", expected an object'],
    ] as const) {
      expect(() => loadPlanSync(plan(), options as object)).toThrow(ConfigError);
      expect(() => loadPlanSync(plan(), options as object)).toThrow(message);
    }
  });

  test("the bytes are read before anything is waited for", async () => {
    const bytes = plan();
    const decoder = loadPlan(bytes);
    bytes.fill(0);
    expect((await decoder).decode([OUT]).length).toBe(2);
  });

  test("engines and frames are asked for as elsewhere", async () => {
    await expect(loadPlan(plan(), { engine: "avx" as "ts" })).rejects.toThrow('engine: got "avx"');
    expect(() =>
      loadPlanSync(plan(), null as never).decode([OUT], { width: 0, height: 1, resize: "stretch" }),
    ).toThrow("frame: got width 0");
  });
});

describe("a file that is no plan, or not whole", () => {
  const patched = (change: (words: Uint32Array, bytes: Uint8Array) => void, check = true): Uint8Array => {
    const bytes = plan();
    const words = new Uint32Array(bytes.buffer);
    change(words, bytes);
    if (check) words[F.F_CHECK] = crc32(bytes.subarray(F.F_FILE_BYTES * 4, words[F.F_FILE_BYTES]));
    return bytes;
  };
  const word = (index: number, value: number): Uint8Array => patched((words) => (words[index] = value));
  const inSlot = (index: number, value: number): Uint8Array =>
    patched((words) => (words[words[F.F_SLOT_TABLE] / 4 + index] = value));
  const inImage = (index: number, value: number): Uint8Array =>
    patched((words) => (words[words[F.F_IMAGE_TABLE] / 4 + index] = value));

  test.each([
    ["nothing", () => undefined, "got undefined, expected the bytes of a plan file"],
    ["text", () => "plan.bin", 'got "plan.bin", expected the bytes'],
    ["words", () => new Uint32Array(100), "got Uint32Array [0,0"],
    ["an empty file", () => new Uint8Array(0), "got 0 bytes, expected at least 64"],
    [
      "a C source",
      () => new TextEncoder().encode("/* Made by boxwright compile".padEnd(99)),
      'got a file that begins with "/* Made ", expected one made by boxwright compile, without --c',
    ],
    [
      "another version",
      () => word(F.F_VERSION, 1),
      "got a file of version 1, expected 3. Compile the plan again",
    ],
    ["another kernel", () => word(F.F_ABI, 9), "got a plan for kernel version 9, expected 3"],
    [
      "a file cut short",
      () => plan().subarray(0, -4),
      / got \d+ bytes, expected \d+: was the file cut short/,
    ],
    ["a promise", () => Promise.resolve(plan()), "got a promise, expected what it resolves to: await it"],
    ["a view", () => new DataView(plan().buffer), "got DataView"],
    [
      "what was sent to a worker",
      () => {
        const bytes = plan();
        structuredClone(bytes, { transfer: [bytes.buffer] });
        return bytes;
      },
      "got 0 bytes",
    ],
    ["a config", () => new TextEncoder().encode('{"a":1}'), 'got a file that begins with "{"a":1}"'],
    ["a length below the head's", () => word(F.F_FILE_BYTES, 8), / bytes, expected 8/],
    [
      "a flipped bit",
      () => patched((_, bytes) => (bytes[100] ^= 1), false),
      "got damaged bytes: a checksum of",
    ],
    [
      "an image beyond the file",
      () => word(F.F_IMAGE_BYTES, 1 << 20),
      /got (bytes )?1048576(\.\.\d+)? for a place or a count/,
    ],
    [
      "a table beyond the file",
      () => word(F.F_SLOT_TABLE, 1 << 20),
      /got (bytes )?1048576(\.\.\d+)? for a place or a count/,
    ],
    ["too many slots", () => word(F.F_SLOTS, 0xffffffff), /got bytes \d+\.\.\d+ for a place or a count/],
    ["columns beyond memory", () => inImage(F.I_BOXES, 1 << 28), "got 268435456 for a place or a count"],
    [
      "a plan block in the head",
      () => inImage(F.I_PLAN, 0),
      "got bytes 0..152 for a place or a count, expected 64..",
    ],
    [
      "more detections than rows",
      () =>
        patched(
          (words) => (words[words[words[F.F_IMAGE_TABLE] / 4 + F.I_PLAN] / 4 + A.P_MAX_DETECTIONS] = 999),
        ),
      "got 999 for a place or a count, expected 0..300",
    ],
    ["a slot in the image", () => inSlot(F.S_ADDRESS, 64), "got bytes 64..160 for a place or a count"],
    ["a slot of an unknown type", () => inSlot(F.S_TYPE, 77), "got type 77 of 3 dims"],
    ["a slot of too many dims", () => inSlot(F.S_RANK, 9), "of 9 dims, expected a known one of at most 8"],
    ["a slot shorter than its dims", () => inSlot(F.S_BYTES, 8), "got 8 bytes for f32 [1,4,6], expected 96"],
    [
      "a name beyond the file",
      () => inSlot(F.S_NAME, 1 << 20),
      /got (bytes )?1048576(\.\.\d+)? for a place or a count/,
    ],
    [
      "a string without an end",
      () => patched((_, bytes) => (bytes[bytes.length - 1] = 65)),
      "got a last byte 65",
    ],
    [
      "a label that is no text",
      () => patched((words, bytes) => (bytes[words[words[F.F_LABEL_TABLE] / 4]] = 0xff)),
      "got a name that is not UTF-8",
    ],
  ] as [string, () => unknown, string | RegExp][])("%s", (_, make, message) => {
    const load = (): unknown => loadPlanSync(make() as Uint8Array);
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(message);
    expect(load).toThrow(/^plan: got /);
  });

  test("damage is told in words, or the file loads", () => {
    const random = mulberry32(12);
    let told = 0;
    for (let round = 0; round < 400; round++) {
      const bytes = patched(
        (words) => {
          const n = words.length;
          for (let k = 0; k < 3; k++)
            words[3 + Math.floor(random() * (n - 3))] = [
              0,
              1,
              0xffffffff,
              Math.floor(random() * 2 ** 32),
              Math.floor(random() * 4096),
            ][Math.floor(random() * 5)];
        },
        round % 2 === 0,
      );
      try {
        loadPlanSync(bytes, { engine: "scalar" });
      } catch (e) {
        told++;
        expect(e, String(e)).toBeInstanceOf(e instanceof RangeError ? RangeError : ConfigError);
      }
    }
    expect(told).toBeGreaterThan(250);
  });
});

describe("what frames show", () => {
  const config = { family: "yolov8", labels: ["person", "cat"], inputSize: [64, 64] as const };
  const frame = (score: number, box = [32, 32, 16, 16]): Record<string, TensorInput> => {
    const data = new Float32Array(6 * 84);
    [...box, 0, score].forEach((value, channel) => data.fill(value, channel * 84, channel * 84 + 84));
    data[5 * 84 + 7] *= 1.5;
    return { out: { data, dims: [1, 6, 84] } };
  };
  const load = (options: LoadOptions = {}, more: object = {}) =>
    loadPlanSync(planOf({ ...config, ...more }, frame(0)), options);

  test.each(engines)("best is that of the decoder of its config, %s", (engine) => {
    const types: readonly ElementType[] = ["f32", "f16", "u8", "i16"];
    let below = 0;
    for (const [k, kind] of Object.keys(kinds).entries()) {
      const type = types[k % types.length];
      const classes = /blazeface|one class/.test(kind) ? 1 : 3;
      const made = kinds[kind]({ w: 4, h: 3, classes, batch: 1, last: k % 2 === 0 });
      const random = mulberry32(k);
      const tensors = Object.fromEntries(
        made.tensors.map((part) => {
          const own = part.parts.some((p) => !["box", "score", "objectness"].includes(p)) ? "f32" : type;
          const q = quantisation(own, made.probabilities);
          const numbers = numbersOf(part, random, "mixed", made, classes);
          return [
            part.spec.name,
            { ...part.spec, ...q, type: own, data: encode(numbers, own, q.scale, q.zeroPoint) },
          ];
        }),
      );
      // Nothing passes: what was scanned anew is compared too.
      for (const confidenceThreshold of [0.25, 0.9999]) {
        const options = { outputs: headsOf(tensors), confidenceThreshold };
        const whole = createDecoderSync(made.config, { ...options, engine });
        const decoder = loadPlanSync(planOf(made.config, tensors, options), { engine });
        expect(decoder.best).toBe(null);
        whole.decode(tensors);
        if (decoder.decode(tensors).length === 0) below++;
        // Its decoder may have copied only the rows that pass.
        if (whole.best !== null) expect(decoder.best, kind).toEqual(whole.best);
      }
    }
    expect(below).toBeGreaterThan(20);
  });
  test("onNote hears of zeros, of scores far below the threshold, and of boxes that are none", () => {
    const notesOf = (frames: number, ...given: Parameters<typeof frame>): string[] => {
      const notes: string[] = [];
      const decoder = load({ onNote: (note) => notes.push(note) }, { rules: "depthai" });
      for (let i = 0; i < frames; i++) decoder.decode(frame(...given));
      return notes;
    };
    expect(notesOf(3, 0)).toEqual([expect.stringMatching(/^every score of the first frame is 0/)]);
    expect(notesOf(29, 1e-4)).toEqual([]);
    expect(notesOf(100, 1e-4)).toEqual([
      expect.stringMatching(
        /^nothing passed the threshold 0\.25 in 30 frames, .* is 0\.00015 \(class cat, cell 7\)/,
      ),
    ]);
    expect(notesOf(2, 0.5, [-100, 32, 16, 16])).toEqual([
      expect.stringMatching(/^all 84 candidates of frame 1 lie outside the image/),
    ]);
    expect(notesOf(2, 0.5, [NaN, 32, 16, 16])).toEqual([
      "candidates of frame 1 whose box, score or class id is NaN or infinite are dropped: 84",
    ]);
    expect(notesOf(100, 0.5)).toEqual([]);
  });
  test("onNote cannot decode with the same decoder, which would overwrite the result", () => {
    const decoder = load({ onNote: () => decoder.decode(frame(0.5)) });
    expect(() => decoder.decode(frame(0))).toThrow("by onNote or by a getter");
    expect(decoder.decode(frame(0.5)).length).toBe(1);
  });
  test("fresh keeps a result that later frames would overwrite", () => {
    const [kept, reused] = [true, false].map((fresh) => {
      const decoder = load({ fresh });
      const [one, [image]] = [decoder.decode(frame(0.5)), decoder.decodeBatch(frame(0.4))];
      decoder.decode(frame(0.3));
      return [one.scores[0], image.scores[0]].map((x) => Number(x.toPrecision(6)));
    });
    expect([kept, reused]).toEqual([
      [0.75, 0.6],
      [0.45, 0.45],
    ]);
  });
  test("options of another type are refused", () => {
    expect(() => load({ onNote: true as never, fresh: 1 as never })).toThrow(
      /options\.onNote: got true, expected a function[^]*options\.fresh: got 1, expected true or false/,
    );
    expect(load({ onNote: undefined as never, fresh: undefined as never }).decode(frame(0.5)).length).toBe(1);
  });
});

test("packets decode by a plan file as by a config, raw and decoded", () => {
  const tensors = { output0: { data: ROWS, dims: [1, ROWS.length / 6, 6] } };
  const local = createDecoderSync(CONFIG);
  const frame = { width: 128, height: 64, resize: "letterbox" } as const;
  const about = { id: "1", source: "/devices/7" };
  const found = local.decode(tensors, frame).copy();
  expect(found.length).toBeGreaterThan(0);
  const decoder = loadPlanSync(planOf(CONFIG, tensors));
  // Methods work without their decoder.
  const { receive } = decoder;
  for (const given of [tensors, found]) {
    const received = receive(fromPacket(toPacket(local, given, frame, about)));
    expect(received.toArray()).toEqual(found.toArray());
    // A packet of detections runs no frame.
    expect(decoder.best === null).toBe(given === found);
  }
  const other = { output0: { data: new Float32Array(12), dims: [1, 2, 6] } };
  expect(() => decoder.receive(fromPacket(toPacket(local, other, frame, about)))).toThrow(TensorError);
  expect(() => decoder.receive(new Uint8Array(4) as never)).toThrow(
    /got Uint8Array .*expected what fromPacket/,
  );
});
