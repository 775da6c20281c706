/** What must not change when the same numbers come another way: transposed, split, batched, re-ordered, quantised. */
import { describe, expect, test } from "vitest";
import { halfToFloat } from "../../src/core/number.ts";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import type { Frame } from "../../src/decode/frame.ts";
import type { Detection, Detections } from "../../src/decode/detections.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import type { ElementType, TensorInput } from "../../src/core/tensor.ts";
import { shareOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";
import {
  encode,
  kinds,
  mulberry32,
  numbersOf,
  shuffled,
  toRaw,
  type Made,
  type MadeTensor,
  type Size,
} from "../support/seeded-networks.ts";

const SIZE: Size = { w: 9, h: 7, classes: 5, batch: 1, last: true };

interface Filled {
  readonly made: Made;
  readonly tensors: { t: MadeTensor; numbers: Float64Array }[];
}

function fill(kind: string, size: Size, seed = 1): Filled {
  const made = kinds[kind](
    kind === "blazeface" || kind.includes("one class") ? { ...size, classes: 1 } : size,
  );
  const random = mulberry32(seed);
  return {
    made,
    tensors: made.tensors.map((t) => {
      const numbers = numbersOf(t, random, "mixed", made, size.classes);
      // all but three rows count
      return { t, numbers: t.parts[0] === "count" ? numbers.fill(size.w * size.h - 3) : numbers };
    }),
  };
}

function inputOf(t: MadeTensor, numbers: Float64Array, dims: readonly number[] = t.spec.dims): TensorInput {
  return {
    data: encode(numbers, "f32"),
    dims,
    ...(t.spec.order === undefined ? {} : { order: t.spec.order }),
  };
}

/** Tensors by name; the storage order goes in beforehand, as the specs carry it. */
const named = (f: Filled): Record<string, TensorInput> =>
  Object.fromEntries(f.tensors.map(({ t, numbers }) => [t.spec.name, inputOf(t, numbers)]));

interface Found {
  readonly detections: Detection[];
  readonly sources: number[];
}

function found(d: Detections): Found {
  return { detections: d.toArray(), sources: [...d.sources.subarray(0, d.length)] };
}

const LOOSE: DecoderOptions = { confidenceThreshold: 0.2, maxDetections: 500 };

function decode(
  config: unknown,
  outputs: Outputs,
  engine: (typeof engines)[number],
  options: DecoderOptions = LOOSE,
): Found {
  return found(createDecoderSync(config, { ...options, engine }).decode(outputs));
}

function swapped(numbers: Float64Array, images: number, rows: number, columns: number): Float64Array {
  const out = new Float64Array(numbers.length);
  for (let b = 0; b < images; b++)
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < columns; c++)
        out[(b * columns + c) * rows + r] = numbers[(b * rows + r) * columns + c];
  return out;
}

/** The same network with channels first. */
function transposed(f: Filled, kind: string, size: Size): Filled {
  const made = kinds[kind]({ ...size, classes: f.made.config["classes"] as number, last: false });
  return {
    made,
    tensors: made.tensors.map((t, i) => {
      const { numbers, t: was } = f.tensors[i];
      const k = t.parts.length;
      const same = was.last === t.last;
      return {
        t,
        numbers: same ? numbers : swapped(numbers, size.batch, numbers.length / k / size.batch, k),
      };
    }),
  };
}

describe.each(engines)("%s", (engine) => {
  describe.each(shareOf(engine, Object.keys(kinds)))("%s", (kind) => {
    const base = fill(kind, SIZE);
    const answer = decode(base.made.config, named(base), engine);

    test("has something to compare", () => {
      expect(answer.detections.length).toBeGreaterThan(2);
    });

    // A head whose channels always stand last has no other order to compare with.
    const turned = transposed(base, kind, SIZE);
    if (!turned.made.tensors.every((x) => x.last))
      test("channels first or last", () => {
        expect(named(turned)).not.toEqual(named(base));
        expect(decode(turned.made.config, named(turned), engine)).toEqual(answer);
      });

    // The first dimension of a vector, and of [N,A,h,w,K], tells what the tensor is: it stays.
    const hasBatch = (t: MadeTensor): boolean => t.spec.dims.length > 2 && t.spec.dims.length !== 5;
    if (base.tensors.some(({ t }) => hasBatch(t)))
      test("without a batch dimension", () => {
        const less = Object.fromEntries(
          base.tensors.map(({ t, numbers }) => [
            t.spec.name,
            inputOf(t, numbers, hasBatch(t) ? t.spec.dims.slice(1) : t.spec.dims),
          ]),
        );
        expect(less).not.toEqual(named(base));
        expect(decode(base.made.config, less, engine)).toEqual(answer);
      });

    // One output has no other order.
    if (base.tensors.length > 1)
      test("outputs in another order", () => {
        const reversed = Object.fromEntries(Object.entries(named(base)).reverse());
        expect(Object.keys(reversed)).not.toEqual(Object.keys(named(base)));
        expect(decode(base.made.config, reversed, engine)).toEqual(answer);
      });

    test("a batch is its images one by one", () => {
      const size = { ...SIZE, batch: 3 };
      const all = fill(kind, size, 3);
      const results = createDecoderSync(all.made.config, { ...LOOSE, engine }).decodeBatch(named(all));
      expect(results).toHaveLength(3);
      results.forEach((r, b) => {
        const one = Object.fromEntries(
          all.tensors.map(({ t, numbers }) => {
            const n = numbers.length / 3;
            return [t.spec.name, inputOf(t, numbers.slice(b * n, (b + 1) * n), [1, ...t.spec.dims.slice(1)])];
          }),
        );
        expect(found(r)).toEqual(decode(all.made.config, one, engine));
      });
    });

    test("update is a new decoder with these thresholds", () => {
      const d = createDecoderSync(base.made.config, { ...LOOSE, engine });
      d.decode(named(base));
      d.update({ confidenceThreshold: 0.5, iouThreshold: 0.2, maxDetections: 3 });
      const fresh = createDecoderSync(base.made.config, {
        engine,
        confidenceThreshold: 0.5,
        iouThreshold: 0.2,
        maxDetections: 3,
      });
      expect(found(d.decode(named(base)))).toEqual(found(fresh.decode(named(base))));
      d.update({ confidenceThreshold: 0.2, iouThreshold: 0.45, maxDetections: 500 });
      expect(found(d.decode(named(base)))).toEqual(answer);
    });

    test("what stands in the slots is what a call with arrays decodes", () => {
      const d = createDecoderSync(base.made.config, { ...LOOSE, engine });
      expect(found(d.decode(named(base)))).toEqual(answer);
      // the second call with arrays may gather, the third reads the slots
      expect(found(d.decode(named(base)))).toEqual(answer);
      for (const { t, numbers } of base.tensors) d.slots[t.spec.name].data.set(encode(numbers, "f32"));
      expect(found(d.decode())).toEqual(answer);
    });

    test("numbers that every type can hold give the same in every type", () => {
      const types: readonly ElementType[] = ["f16", "u8", "i8", "i16", "i32"];
      for (const type of types) {
        const scale = base.made.probabilities ? 1 / 64 : 1 / 8;
        const zero = type === "u8" ? 100 : 3;
        const q = type === "f16" ? {} : { scale, zeroPoint: zero };
        const real: Record<string, TensorInput> = {};
        const raw: Record<string, TensorInput> = {};
        for (const { t, numbers } of base.tensors) {
          const order = t.spec.order === undefined ? {} : { order: t.spec.order };
          const bare = t.parts.some((p) => p === "label" || p === "count" || p === "marker");
          const data = bare ? encode(numbers, "f32") : encode(numbers, type, scale, zero);
          const values = bare
            ? (data as Float32Array)
            : Float32Array.from(data, (v) => (type === "f16" ? halfToFloat(v) : (v - zero) * scale));
          real[t.spec.name] = { data: values, dims: t.spec.dims, ...order };
          raw[t.spec.name] = bare
            ? { data, dims: t.spec.dims, ...order }
            : { data, dims: t.spec.dims, type, ...q, ...order };
        }
        const expected = decode(base.made.config, real, engine);
        expect(decode(base.made.config, raw, engine), type).toEqual(expected);
        if (!base.tensors.every(({ t }) => t.parts.includes("label")))
          expect(expected.detections.length).toBeGreaterThan(0);
      }
    });

    const list = base.made.config["classes"] as number;
    const told = base.tensors.some(({ t }) => t.parts.includes("label"));
    if (!told && list > 1)
      test("permuting the classes permutes labels only", () => {
        const order = shuffled(mulberry32(9), list);
        // The column in front of the classes.
        const { family, background } = base.made.config;
        const shift = family === "ssd" || background === 0 ? 1 : 0;
        const mixed = base.tensors.map(({ t, numbers }) => {
          const out = numbers.slice();
          const k = t.parts.length;
          const blocks = t.parts.map((p, c) => (p === "score" ? c : -1)).filter((c) => c >= 0);
          // each run of score channels: one for each class (of each prior), plus a column in front or behind
          for (let from = 0; from < blocks.length;) {
            let to = from + 1;
            while (to < blocks.length && blocks[to] === blocks[to - 1] + 1) to++;
            if ((to - from) % list === 0) to = from + list;
            const first = blocks[from] + (to - from > list ? shift : 0);
            for (let i = 0; i < numbers.length / k; i++)
              order.forEach((was, is) => (out[i * k + first + is] = numbers[i * k + first + was]));
            from = to;
          }
          return { t, numbers: out };
        });
        const got = decode(base.made.config, named({ made: base.made, tensors: mixed }), engine);
        const softmax = /softmax/.test(kind);
        expect(got.sources).toEqual(answer.sources);
        got.detections.forEach((d, i) => {
          const was = answer.detections[i];
          expect(order[d.class_id - shift] + shift).toBe(was.class_id);
          // a sum in another order may end on another last bit
          if (softmax) expect(d.confidence).toBeCloseTo(was.confidence, 6);
          else expect(d).toEqual({ ...was, class_id: d.class_id, label: d.label });
        });
      });

    if (!told && list > 1)
      test("keep is the other classes left out", () => {
        // Without a cap: a DETR takes as many pairs as it has queries, over all classes or over the kept ones.
        const rules = { multiLabel: true, suppress: "class", maxCandidates: 0 } as const;
        const options = { ...LOOSE, maxDetections: 3000, rules: rules };
        const all = decode(base.made.config, named(base), engine, options);
        const shift = base.made.config["family"] === "ssd" ? 1 : 0;
        const keep = [1 + shift, 3 + shift];
        const some = decode(base.made.config, named(base), engine, { ...options, keep });
        const wanted = all.detections
          .map((d, i) => ({ d, s: all.sources[i] }))
          .filter(({ d }) => keep.includes(d.class_id));
        expect(wanted.length).toBeGreaterThan(0);
        expect(some.detections).toEqual(wanted.map(({ d }) => d));
        expect(some.sources).toEqual(wanted.map(({ s }) => s));
      });

    if (told)
      test("keep drops the other labels", () => {
        const options = { ...LOOSE, rules: { suppress: "none" } as const };
        const all = decode(base.made.config, named(base), engine, options).detections;
        const some = decode(base.made.config, named(base), engine, { ...options, keep: [1, 3] }).detections;
        expect(some).toEqual(all.filter((d) => d.class_id === 1 || d.class_id === 3));
        expect(some.length).toBeGreaterThan(0);
      });

    test("a threshold per class is a filter by class", () => {
      const options = {
        ...LOOSE,
        maxDetections: 3000,
        rules: { multiLabel: true, suppress: "none", maxCandidates: 0 } as const,
      };
      const d = createDecoderSync(base.made.config, { ...options, engine });
      // objectness, where it only gates, goes by the smallest of them
      d.update({ confidenceThreshold: 0.3 });
      const all = found(d.decode(named(base))).detections;
      const n = d.describe().json as { classes: number };
      const gates = Array.from({ length: n.classes }, (_, i) => (i % 2 === 0 ? 0.45 : 0.3));
      d.update({ confidenceThreshold: gates });
      const some = found(d.decode(named(base))).detections;
      expect(some).toEqual(all.filter((x) => x.confidence > (gates[x.class_id] ?? 0.3)));
      expect(some.length).toBeGreaterThan(0);
      expect(some.length).toBeLessThan(all.length);
    });
  });

  test("keep looks for the best of the kept classes", () => {
    const f = fill("yolov8 rows", SIZE);
    const keep = [1, 3];
    const some = decode(f.made.config, named(f), engine, { ...LOOSE, keep });
    const zeroed = f.tensors.map(({ t, numbers }) => ({
      t,
      numbers: numbers.map((v, i) => (i % 9 >= 4 && !keep.includes((i % 9) - 4) ? 0 : v)),
    }));
    expect(some).toEqual(decode(f.made.config, named({ made: f.made, tensors: zeroed }), engine));
  });

  test("a quantised copy is within its step of the f32 tensor", () => {
    const f = fill("yolov8 rows", SIZE);
    const [{ t, numbers }] = f.tensors;
    const options = { ...LOOSE, rules: { suppress: "none", clamp: "none" } as const };
    const at = (x: Found): Map<number, Detection> => new Map(x.detections.map((d, i) => [x.sources[i], d]));
    const exact = at(decode(f.made.config, named(f), engine, options));
    const steps: [ElementType, number, number, number][] = [
      ["u8", 1.8 / 255, 30, 1.8 / 255],
      ["i8", 1.8 / 255, -90, 1.8 / 255],
      ["i16", 1 / 10000, 0, 1 / 10000],
      ["f16", 1, 0, 2 ** -11],
    ];
    for (const [type, scale, zeroPoint, step] of steps) {
      const raw: TensorInput = {
        data: encode(numbers, type, scale, zeroPoint),
        dims: t.spec.dims,
        type,
        ...(type === "f16" ? {} : { scale, zeroPoint }),
      };
      const got = at(decode(f.made.config, { [t.spec.name]: raw }, engine, options));
      let compared = 0;
      for (const [source, d] of exact) {
        const other = got.get(source);
        if (other === undefined) {
          expect(d.confidence).toBeLessThan(0.2 + step);
          continue;
        }
        compared++;
        expect(Math.abs(other.confidence - d.confidence)).toBeLessThanOrEqual(step);
        // a corner is a centre and half a size: one and a half steps, and a rounding
        for (const k of ["x_min", "y_min", "x_max", "y_max"] as const)
          expect(Math.abs(other[k] - d[k])).toBeLessThanOrEqual(1.5 * step + 1e-6);
      }
      expect(compared).toBeGreaterThan(10);
      for (const [source, d] of got)
        if (!exact.has(source)) expect(d.confidence).toBeLessThan(0.2 + 2 * step);
    }
  });

  test("YOLOX rows are its maps, one after the other", () => {
    const config = { family: "yolox", classes: 3, inputSize: [64, 32] };
    const random = mulberry32(4);
    const grids = [8, 16, 32].map((s) => ({ w: 64 / s, h: 32 / s }));
    const data = grids.map((g) => Float32Array.from({ length: g.w * g.h * 8 }, () => random()));
    const rows = new Float32Array(data.flatMap((d) => [...d]));
    const maps = data.map((d, i) => ({
      data: d,
      dims: [1, grids[i].h, grids[i].w, 8],
      order: "NHWC" as const,
    }));
    const a = decode(config, [{ data: rows, dims: [1, 42, 8] }], engine);
    expect(a.detections.length).toBeGreaterThan(5);
    expect(decode(config, maps, engine)).toEqual(a);
    expect(decode(config, [maps[2], maps[0], maps[1]], engine)).toEqual(a);
    expect(
      decode({ ...config, reading: "point-grid" }, { x: maps[1], a: maps[2], z: maps[0] }, engine),
    ).toEqual(a);
  });

  test("DFL in one tensor, in maps, and in maps of box and class each", () => {
    const config = { family: "yolov8", classes: 3, inputSize: [64, 32], reading: "dfl-grid" };
    const random = mulberry32(5);
    const grids = [8, 16, 32].map((s) => ({ w: 64 / s, h: 32 / s }));
    const k = 67;
    const maps = grids.map((g) => Float32Array.from({ length: g.w * g.h * k }, () => random() * 6 - 3));
    const n = 42;
    const planes = new Float32Array(k * n);
    let first = 0;
    grids.forEach((g, i) => {
      const cells = g.w * g.h;
      for (let c = 0; c < k; c++) planes.set(maps[i].subarray(c * cells, (c + 1) * cells), c * n + first);
      first += cells;
    });
    const fused = maps.map((data, i) => ({
      data,
      dims: [1, k, grids[i].h, grids[i].w],
      order: "NCHW" as const,
    }));
    const split = maps.flatMap((data, i): [string, TensorInput][] => {
      const cells = grids[i].w * grids[i].h;
      const dims = [grids[i].h, grids[i].w];
      return [
        [`box${i}`, { data: data.slice(0, 64 * cells), dims: [1, 64, ...dims], order: "NCHW" as const }],
        [`cls${i}`, { data: data.slice(64 * cells), dims: [1, 3, ...dims], order: "NCHW" as const }],
      ];
    });
    const a = decode(config, fused, engine);
    expect(a.detections.length).toBeGreaterThan(5);
    expect(decode(config, [{ data: planes, dims: [1, k, n] }], engine)).toEqual(a);
    expect(decode(config, Object.fromEntries(split), engine)).toEqual(a);
    expect(decode(config, Object.fromEntries([...split].reverse()), engine)).toEqual(a);
  });

  test("rows split into boxes and classes are the rows", () => {
    const f = fill("yolov8 rows", SIZE);
    const [{ numbers }] = f.tensors;
    const part = (from: number, to: number): Float32Array => {
      const out: number[] = [];
      for (let i = 0; i < numbers.length; i += 9) out.push(...numbers.subarray(i + from, i + to));
      return Float32Array.from(out);
    };
    const outputs = {
      scores: { data: part(4, 9), dims: [1, 63, 5] },
      boxes: { data: part(0, 4), dims: [1, 63, 4] },
    };
    expect(decode(f.made.config, outputs, engine)).toEqual(decode(f.made.config, named(f), engine));
  });

  test("channels last, with as many channels as the larger map is wide", () => {
    // [1,8,8,24]: as channels first it would be a map of one anchor, 24 cells wide
    const config = {
      family: "yolov3",
      classes: 3,
      inputSize: [64, 64],
      anchors: [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319],
    };
    const random = mulberry32(8);
    const both = [8, 4].map((side) => {
      const data = Float32Array.from({ length: side * side * 24 }, () => random() * 4 - 2);
      const last = data.map((_, i) => data[(i % 24) * side * side + Math.floor(i / 24)]);
      return { first: { data, dims: [1, 24, side, side] }, last: { data: last, dims: [1, side, side, 24] } };
    });
    const a = decode(
      config,
      both.map((b) => b.first),
      engine,
    );
    expect(a.detections.length).toBeGreaterThan(5);
    expect(
      decode(
        config,
        both.map((b) => b.last),
        engine,
      ),
    ).toEqual(a);
  });

  test("one channel is the same in rows and in planes", () => {
    const random = mulberry32(9);
    const numbers = (n: number, most: number): Float32Array =>
      Float32Array.from({ length: n }, () => random() * most);
    const config = { family: "yolov8", classes: 1, inputSize: [64, 64] };
    const boxes = { data: numbers(4 * 84, 64), dims: [1, 4, 84] };
    const scores = { data: numbers(84, 1), dims: [1, 1, 84] };
    const a = decode(config, [boxes, scores], engine);
    expect(a.detections.length).toBeGreaterThan(5);
    const said = [boxes, scores].map((t) => ({ ...t, order: "planes" as const }));
    expect(decode(config, said, engine)).toEqual(a);
  });

  test("anchor maps match their masks by width, in any order, by name or as an array", () => {
    const config = {
      NN_config: {
        output_format: "detection",
        NN_family: "YOLO",
        NN_specific_metadata: {
          classes: 2,
          anchors: [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319],
          anchor_masks: { side4: [3, 4, 5], side8: [1, 2, 3] },
          confidence_threshold: 0.2,
          iou_threshold: 0.5,
        },
      },
    };
    const random = mulberry32(6);
    const at = (w: number, h: number): TensorInput => ({
      data: Float32Array.from({ length: w * h * 21 }, () => random()),
      dims: [1, 21, h, w],
    });
    const big = at(8, 6);
    const small = at(4, 3);
    const a = decode(config, [big, small], engine, {});
    expect(a.detections.length).toBeGreaterThan(3);
    expect(decode(config, [small, big], engine, {})).toEqual(a);
    expect(decode(config, { small, big }, engine, {})).toEqual(a);
    const nn = config.NN_config.NN_specific_metadata;
    const turned = {
      NN_config: {
        ...config.NN_config,
        NN_specific_metadata: { ...nn, anchor_masks: { side8: [1, 2, 3], side4: [3, 4, 5] } },
      },
    };
    expect(decode(turned, [small, big], engine, {})).toEqual(a);
  });
});

describe("frame", () => {
  const rows = (boxes: readonly (readonly number[])[]): TensorInput => ({
    data: Float32Array.from(boxes.flatMap((b) => [...b, 0.9])),
    dims: [1, boxes.length, 5],
  });
  const decoder = (inputSize: readonly [number, number]): Decoder =>
    createDecoderSync({
      family: "yolov8",
      classes: 1,
      inputSize,
      boxFormat: "xyxy",
      rules: { clamp: "none", suppress: "none" },
    });
  const first = (d: Detections): number[] => [...d.boxes.subarray(0, 4)];

  test.each<[string, readonly [number, number], number, number, Frame["resize"], number[], number[]]>([
    // 1000x500 into 640x640: 640x320, 160 rows above
    ["wide", [640, 640], 1000, 500, "letterbox", [0, 160, 640, 480], [0, 0, 1, 1]],
    ["wide, inner box", [640, 640], 1000, 500, "letterbox", [64, 192, 320, 320], [0.1, 0.1, 0.5, 0.5]],
    ["tall", [640, 640], 500, 1000, "letterbox", [160, 0, 480, 640], [0, 0, 1, 1]],
    // 641x427 into 640x480: scale min(640/641, 480/427) = 0.99844, 640 x round(426.33) = 426; (480-426)/2 = 27
    ["odd", [640, 480], 641, 427, "letterbox", [0, 27, 640, 453], [0, 0, 1, 1]],
    // 100x99 into 64x64: 64 x round(63.36) = 63, one row left over: floor(1/2) = 0 above, 1 below
    ["odd padding goes below", [64, 64], 100, 99, "letterbox", [0, 0, 64, 63], [0, 0, 1, 1]],
    // 99x100 into 65x65: round(64.35) = 64 x 65, one column: none on the left
    ["odd padding goes right", [65, 65], 99, 100, "letterbox", [0, 0, 64, 65], [0, 0, 1, 1]],
    // 333x500 into 320x320: round(213.12) = 213 x 320, 107 columns: 53 on the left
    ["odd, both", [320, 320], 333, 500, "letterbox", [53, 0, 266, 320], [0, 0, 1, 1]],
    // 500x333 into 640x640: 640 x round(426.24) = 426, 214 rows: 107 above
    ["a fraction below a half", [640, 640], 500, 333, "letterbox", [0, 107, 640, 533], [0, 0, 1, 1]],
    // 480x361 into 320x320: 320 x round(240.67) = 241, 79 rows: 39 above
    ["a fraction above a half", [320, 320], 480, 361, "letterbox", [0, 39, 320, 280], [0, 0, 1, 1]],
    // 361x480 into 320x320: round(240.67) = 241 x 320, 79 columns: 39 on the left
    ["a fraction above a half, tall", [320, 320], 361, 480, "letterbox", [39, 0, 280, 320], [0, 0, 1, 1]],
    ["top left, above a half", [320, 320], 480, 361, "letterbox-topleft", [0, 0, 320, 241], [0, 0, 1, 1]],
    [
      "top left, tall, above a half",
      [320, 320],
      361,
      480,
      "letterbox-topleft",
      [0, 0, 241, 320],
      [0, 0, 1, 1],
    ],
    // 1280x853 into 640x640: 426.5 rows. cvRound and Python's round go to the even 426: 107 rows above
    ["a half, to even", [640, 640], 1280, 853, "letterbox", [0, 107, 640, 533], [0, 0, 1, 1]],
    ["a half, to even, tall", [640, 640], 853, 1280, "letterbox", [107, 0, 533, 640], [0, 0, 1, 1]],
    ["top left, a half", [640, 640], 1280, 853, "letterbox-topleft", [0, 0, 640, 426], [0, 0, 1, 1]],
    // 853x1280 into 640x640, as cv2.dnn.blobFromImage: factor 640/853, 960.375 rows, (960 - 640) / 2 of them above
    ["crop", [640, 640], 853, 1280, "crop", [0, 0, 640, 640], [0, 160 / 960.375, 1, 800 / 960.375]],
    ["top left", [640, 640], 1000, 500, "letterbox-topleft", [0, 0, 640, 320], [0, 0, 1, 1]],
    ["top left, tall", [416, 416], 300, 400, "letterbox-topleft", [0, 0, 312, 416], [0, 0, 1, 1]],
    ["stretch", [640, 480], 333, 777, "stretch", [64, 48, 320, 240], [0.1, 0.1, 0.5, 0.5]],
  ])("%s", (_, input, width, height, resize, box, expected) => {
    const got = first(decoder(input).decode([rows([box])], { width, height, resize }));
    got.forEach((v, i) => expect(v).toBeCloseTo(expected[i], 5));
  });

  test("comes and goes from call to call, in every engine", () => {
    for (const engine of engines) {
      const d = createDecoderSync(
        { family: "yolov8", classes: 1, inputSize: [64, 64], boxFormat: "xyxy" },
        { engine },
      );
      const out = [rows([[16, 16, 48, 48]])];
      const frame = { width: 200, height: 100, resize: "letterbox" as const };
      expect(first(d.decode(out))).toEqual([0.25, 0.25, 0.75, 0.75]);
      expect(first(d.decode(out, frame))).toEqual([0.25, 0, 0.75, 1]);
      expect(first(d.decode(out))).toEqual([0.25, 0.25, 0.75, 0.75]);
      const frozen = Object.freeze(frame);
      expect(first(d.decode(out, frozen))).toEqual([0.25, 0, 0.75, 1]);
      expect(first(d.decode(out, frozen))).toEqual([0.25, 0, 0.75, 1]);
      d.decode(
        [
          rows([
            [16, 16, 48, 48],
            [0, 0, 64, 64],
          ]),
        ],
        frozen,
      );
      expect(first(d.decode(out, frozen))).toEqual([0.25, 0, 0.75, 1]);
    }
  });

  test("works for a batch and for gathered input", () => {
    const f = fill("yolov5 rows", SIZE);
    const frame = { width: 200, height: 100, resize: "letterbox" as const };
    const d = createDecoderSync(f.made.config, LOOSE);
    const a = found(d.decode(named(f), frame));
    const b = found(d.decode(named(f), frame));
    expect(b).toEqual(a);
    expect(a).not.toEqual(found(d.decode(named(f))));
  });
});

test("the tests' own half floats agree with the package's", () => {
  for (let bits = 0; bits < 65536; bits++) {
    const x = halfToFloat(bits);
    if (Number.isNaN(x)) continue;
    expect(toRaw("f16", x, 1, 0)).toBe(bits);
  }
});
