/** The public contract: slots, detections, statistics, description, ways of making a decoder, memory. */
import { inspect as print } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoder, createDecoderSync } from "../../src/whole/decoder.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import type { Update } from "../../src/decode/update.ts";
import { Detections } from "../../src/decode/detections.ts";
import { toPixels } from "../../src/decode/pixels.ts";
import { ConfigError } from "../../src/core/errors.ts";
import { chooseEngine } from "../../src/engine/choose.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { type StorageOrder, specOf } from "../../src/core/tensor.ts";
import { mulberry32 } from "../support/seeded-networks.ts";
import { planJson } from "../support/plan-json.ts";
import { engines } from "../support/engines.ts";

const V8 = { family: "yolov8", labels: ["cat", "dog"], inputSize: [100, 100], boxFormat: "xyxy" };

/** Rows x1 y1 x2 y2 cat dog. */
const rows = (list: readonly (readonly number[])[]) => ({
  data: Float32Array.from(list.flat()),
  dims: [1, list.length, 6],
});
const ROWS = { ...V8, reading: "class-rows" };
const three = rows([
  [10, 20, 30, 40, 0.1, 0.9],
  [11, 20, 30, 40, 0.1, 0.8],
  [50, 50, 90, 80, 0.5, 0.2],
]);

describe.each(engines)("%s", (engine) => {
  const make = (options: object = {}, config: object = ROWS): Decoder =>
    createDecoderSync(config, { engine, ...options });

  test("detections: iteration, at, toArray, columns, sources, JSON", () => {
    const found = make().decode([three]);
    const dog = {
      class_id: 1,
      label: "dog",
      confidence: Math.fround(0.9),
      x_min: Math.fround(0.1),
      y_min: Math.fround(0.2),
      x_max: Math.fround(0.3),
      y_max: Math.fround(0.4),
    };
    expect(found).toBeInstanceOf(Detections);
    expect(found.length).toBe(2);
    const all = found.toArray();
    expect(all[0].label).toBe("dog");
    for (const k of ["x_min", "y_min", "x_max", "y_max", "confidence"] as const)
      expect(all[0][k]).toBeCloseTo(dog[k], 6);
    expect(Object.keys(all[0]).sort()).toEqual(Object.keys(dog).sort());
    expect([...found]).toEqual(all);
    expect(found.at(0)).toEqual(all[0]);
    expect(found.at(-1)).toEqual(all[1]);
    expect(found.at(2)).toBeUndefined();
    expect(found.at(-3)).toBeUndefined();
    expect(found.at(NaN)).toBeUndefined();
    expect(JSON.parse(JSON.stringify(found))).toEqual(all);
    expect([...found.sources.subarray(0, 2)]).toEqual([0, 2]);
    expect([...found.classIds.subarray(0, 2)]).toEqual([1, 0]);
    expect([...found.scores.subarray(0, 2)]).toEqual([Math.fround(0.9), 0.5]);
    expect([...found.boxes.subarray(4, 8)]).toEqual([all[1].x_min, all[1].y_min, all[1].x_max, all[1].y_max]);
    expect(found.boxes).toBeInstanceOf(Float32Array);
    expect([found.boxes.length, found.scores.length, found.classIds.length, found.sources.length]).toEqual([
      1200, 300, 300, 300,
    ]);
  });

  test("columns are the same views call after call; a copy survives", () => {
    const d = make();
    const first = d.decode([three]);
    const { boxes, scores, classIds, sources } = first;
    const copy = first.copy();
    const was = first.toArray();
    const second = d.decode([
      rows([
        [0, 0, 10, 10, 0.99, 0],
        [1, 1, 2, 2, 0, 0],
        [3, 3, 4, 4, 0, 0],
      ]),
    ]);
    expect(second).toBe(first);
    expect(second.boxes).toBe(boxes);
    expect(second.scores).toBe(scores);
    expect(second.classIds).toBe(classIds);
    expect(second.sources).toBe(sources);
    expect(second.toArray()).not.toEqual(was);
    expect(copy.toArray()).toEqual(was);
    expect(copy.boxes.buffer).not.toBe(boxes.buffer);
    expect([copy.length, copy.boxes.length, copy.scores.length]).toEqual([2, 8, 2]);
    expect([[...copy.classIds], [...copy.sources]]).toEqual([
      [1, 0],
      [0, 2],
    ]);
  });

  test("nothing is made per frame: views, slots and statistics stay the same objects", () => {
    const d = make();
    d.decode([three]);
    const { stats, slots } = d;
    const data = slots["output0"].data;
    const held = stats.bytes;
    for (let i = 0; i < 50; i++) d.decode([three]);
    expect(d.stats).toBe(stats);
    expect(d.stats.dropped).toBe(stats.dropped);
    expect(d.slots).toBe(slots);
    expect(d.slots["output0"].data).toBe(data);
    expect(stats).toMatchObject({ frames: 51, plans: 1, bytes: held });
  });

  test("slots exist at once where shapes are given, and are read without a copy", () => {
    const d = make({ outputs: [{ name: "out", dims: three.dims }] });
    expect(Object.keys(d.slots)).toEqual(["out"]);
    const { data, dims, type } = d.slots["out"];
    expect(dims).toEqual([1, 3, 6]);
    expect(type).toBe("f32");
    expect(d.decode().length).toBe(0);
    (data as Float32Array).set(three.data);
    const found = d.decode();
    expect(found.length).toBe(2);
    // the slot lies in the memory that detections are views of
    expect(found.boxes.buffer).toBe(data.buffer);
    // the slot's own array passes as an output, and what stands there stays
    expect(d.decode({ out: { data, dims: [...dims] } }).length).toBe(2);
    data[5] = 0;
    expect(d.decode().length).toBe(2);
    expect(d.decode().at(0)?.confidence).toBeCloseTo(0.8, 6);
    // by name or as an array
    expect(d.decode({ out: three }).at(0)?.confidence).toBeCloseTo(0.9, 6);
    expect(d.decode([three]).at(0)?.confidence).toBeCloseTo(0.9, 6);
    expect(d.stats.plans).toBe(1);
  });

  test("slots appear with the first decode, anew with new shapes", () => {
    const d = make();
    expect(d.slots).toEqual({});
    d.decode({ a: three });
    expect(Object.keys(d.slots)).toEqual(["a"]);
    const before = d.slots["a"].data;
    d.decode({ a: rows([[0, 0, 9, 9, 0.9, 0]]) });
    expect(d.slots["a"].data).not.toBe(before);
    expect(d.slots["a"].data.length).toBe(6);
    expect(d.stats.plans).toBe(2);
    d.decode(three);
    expect(d.stats.plans).toBe(3);
  });

  test("outputs given as a record, with types and scales", () => {
    const d = make(
      { outputs: { out: { dims: [1, 2, 6], type: "uint8", scale: 0.5, zeroPoint: 0 } } },
      { ...ROWS, scores: "logits" },
    );
    expect(d.slots["out"].data).toBeInstanceOf(Uint8Array);
    expect(d.slots["out"].type).toBe("u8");
    d.slots["out"].data.set([20, 40, 60, 80, 2, 9, 0, 0, 0, 0, 0, 0]);
    const found = d.decode();
    expect(found.at(0)).toMatchObject({ class_id: 1 });
    expect(found.at(0)?.confidence).toBeCloseTo(1 / (1 + Math.exp(-4.5)), 6);
    // a caller's array takes the scale given beforehand
    const data = Uint8Array.from([20, 40, 60, 80, 2, 7, 0, 0, 0, 0, 0, 0]);
    expect(d.decode({ out: { data, dims: [1, 2, 6] } }).at(0)?.confidence).toBeCloseTo(
      1 / (1 + Math.exp(-3.5)),
      6,
    );
  });

  test("statistics count candidates, what a cap left out, and what was not finite", () => {
    const d = make({ maxDetections: 1 });
    const four = rows([
      [10, 20, 30, 40, 0.1, 0.9],
      [50, 50, 90, 80, 0.5, 0.2],
      [5, 5, 9, 8, 0.6, 0.2],
      [NaN, 50, 90, 80, 0.5, 0.2],
    ]);
    expect(d.decode([four]).length).toBe(1);
    expect(d.stats).toMatchObject({
      frames: 1,
      candidates: 3,
      dropped: { capped: 2, notFinite: 1 },
      plans: 1,
    });
    d.update({ confidenceThreshold: 0.85 });
    d.decode([four]);
    expect(d.stats).toMatchObject({
      frames: 2,
      candidates: 1,
      dropped: { capped: 0, notFinite: 0, empty: 0 },
    });
  });

  test("two decoders do not disturb each other", () => {
    const a = make();
    const b = make({ confidenceThreshold: 0.85 });
    const first = a.decode([three]);
    const was = first.toArray();
    const other = b.decode([three]);
    expect(other.length).toBe(1);
    expect(first.toArray()).toEqual(was);
    b.decode([rows([[0, 0, 9, 9, 0.9, 0]])]);
    expect(a.decode()).toBe(first);
    expect(first.toArray()).toEqual(was);
    expect(first.boxes.buffer).not.toBe(other.boxes.buffer);
  });

  test("memory is slots, forty bytes a cell and 64 KiB", () => {
    const at = (
      config: object,
      list: readonly { name: string; dims: readonly number[] }[],
    ): { bytes: number; bound: number } => {
      const d = createDecoderSync(config, { engine, outputs: list });
      const slots = Object.values(d.slots).reduce((n, s) => n + s.data.byteLength, 0);
      const { heads } = planJson(d);
      const cells = heads.reduce((n, h) => n + h.cells, 0);
      // WebAssembly hands out whole pages
      const page = engine === "ts" ? 16 : 65536;
      return { bytes: d.stats.bytes, bound: Math.ceil((slots + 40 * cells + 65536) / page) * page };
    };
    for (const { bytes, bound } of [
      at({ family: "yolov8", classes: 80, inputSize: [640, 640] }, [{ name: "o", dims: [1, 84, 8400] }]),
      at({ family: "yolov5", classes: 80, inputSize: [640, 640] }, [{ name: "o", dims: [1, 25200, 85] }]),
      at(
        {
          family: "yolov3",
          classes: 80,
          inputSize: [416, 416],
          anchors: [
            [
              [1, 2],
              [3, 4],
              [5, 6],
            ],
            [
              [7, 8],
              [9, 9],
              [9, 8],
            ],
          ],
        },
        [
          { name: "a", dims: [1, 255, 26, 26] },
          { name: "b", dims: [1, 255, 13, 13] },
        ],
      ),
    ])
      expect(bytes).toBeLessThanOrEqual(bound);
  });

  test("arrays of which little passes in one map and much in another, frame after frame", () => {
    const config = { family: "yolov3", classes: 8, inputSize: [416, 416], anchors: [[[9, 8]], [[40, 50]]] };
    const sides = [13, 26];
    const random = mulberry32(7);
    /** [1, 13, side, side] of logits; so much of the objectness is above zero. */
    const map = (side: number, share: number): Float32Array =>
      Float32Array.from({ length: 13 * side * side }, (_, i) => {
        const channel = Math.floor(i / (side * side));
        return channel === 4 ? (random() < share ? 1 : -1) * (1 + random()) : random() * 4 - 2;
      });
    const arrays = make({}, config);
    const slots = make({}, config);
    const found = (d: Detections) => ({ rows: d.toArray(), sources: [...d.sources.slice(0, d.length)] });
    let passed = 0;
    for (const shares of [
      [0, 0],
      [0.02, 0.9],
      [0.9, 0.02],
      [0.02, 0.02],
      [0.9, 0.9],
      [0.02, 0.9],
      [0, 0.02],
    ]) {
      const outputs = sides.map((side, i) => ({ data: map(side, shares[i]), dims: [1, 13, side, side] }));
      const got = found(arrays.decode(outputs));
      if (Object.keys(slots.slots).length === 0) slots.decode(outputs);
      Object.values(slots.slots).forEach((slot, i) => slot.data.set(outputs[i].data));
      expect(got).toEqual(found(slots.decode()));
      expect(arrays.stats.candidates).toBe(slots.stats.candidates);
      passed += got.rows.length;
    }
    expect(passed).toBeGreaterThan(100);
  });

  test("slots that hold rows of the last arrays are not decoded", () => {
    const config = { family: "yolov3", classes: 8, inputSize: [416, 416], anchors: [[[9, 8]]] };
    const data = new Float32Array(13 * 26 * 26).fill(-4);
    data[4 * 676 + 30] = data[(5 + 2) * 676 + 30] = 3;
    const outputs = [{ data, dims: [1, 13, 26, 26] }];
    const d = make({}, config);
    const first = d.decode(outputs).toArray();
    expect(first).toHaveLength(1);
    expect(d.decode().toArray()).toEqual(first);
    expect(d.decode(outputs).toArray()).toEqual(first);
    expect(() => d.decode()).toThrow(
      /the slots hold only the rows gathered .* pass the outputs with every call/,
    );
    // An array of another class is copied whole: then the slots hold it.
    expect(d.decode([{ data: Array.from(data), dims: [1, 13, 26, 26] }]).toArray()).toEqual(first);
    expect(d.decode().toArray()).toEqual(first);
  });

  test("no class of a head is wanted: nothing of it, gathered or not", () => {
    const config = {
      family: "yolov3",
      classes: 1,
      inputSize: [64, 64],
      anchors: [
        [
          [9, 8],
          [8, 8],
          [7, 7],
        ],
      ],
      scores: "probabilities",
    };
    const d = make({ keep: [3] }, config);
    const outputs = [{ data: new Float32Array(15 * 64).fill(0.9), dims: [1, 15, 8, 8] }];
    for (let i = 0; i < 15 * 64; i++) if (i % 64 > 2) outputs[0].data[i] = 0.01;
    for (let i = 0; i < 3; i++) expect(d.decode(outputs).length).toBe(0);
  });

  test("update refuses a name it does not know, and changes nothing", () => {
    const d = make();
    const before = d.decode([three]).length;
    expect(() => d.update({ confidence: 0.99, iouThreshold: 0 } as object)).toThrow(
      "confidence: got an unknown name, expected one of confidenceThreshold, iouThreshold, maxDetections",
    );
    expect(d.decode([three])).toHaveLength(before);
  });

  test("no options and no changes are none; what is no object is refused", () => {
    const d = createDecoderSync(ROWS, null as unknown as DecoderOptions);
    const before = d.describe().text;
    d.update(null as unknown as Update);
    expect(d.describe().text).toBe(before);
    expect(() => d.update(3 as unknown as Update)).toThrow("got 3, expected an object");
    expect(() => createDecoderSync(ROWS, 3 as unknown as DecoderOptions)).toThrow(
      "options: got 3, expected an object",
    );
  });

  test("another order is another plan", () => {
    const d = make({}, { family: "yolov8", classes: 4, coordinates: "normalised" });
    const data = new Float32Array(64);
    data[4] = 0.5;
    const at = (order: StorageOrder) => d.decode([{ data, dims: [1, 8, 8], order }]).length;
    // row 0 has a class score; as planes the same number is a coordinate
    expect(at("rows")).toBe(1);
    expect(at("planes")).toBe(0);
    expect(at("rows")).toBe(1);
  });

  test("another zero point is another plan", () => {
    const d = make({}, { ...ROWS, coordinates: "normalised" });
    const at = (zeroPoint: number) =>
      d
        .decode([
          { data: Uint8Array.of(10, 10, 90, 90, 10, 200), dims: [1, 1, 6], scale: 1 / 255, zeroPoint },
        ])
        .at(0)?.confidence;
    expect(at(0)).toBeCloseTo(200 / 255, 6);
    expect(at(10)).toBeCloseTo(190 / 255, 6);
  });

  test("a frame thinner than a pixel of the input gives numbers", () => {
    const found = make().decode([three], { width: 10000, height: 20, resize: "letterbox" });
    expect(found.length).toBeGreaterThan(0);
    for (const x of found.boxes.slice(0, found.length * 4)) expect(Number.isFinite(x)).toBe(true);
  });

  test("a batch gives one result per image, each with its own columns", () => {
    const d = make();
    const one = [...three.data];
    const results = d.decodeBatch([
      { data: Float32Array.from([...one, ...one.map((v, i) => (i === 5 ? 0 : v))]), dims: [2, 3, 6] },
    ]);
    expect(results.map((r) => r.length)).toEqual([2, 2]);
    expect(results[0].at(0)?.confidence).toBeCloseTo(0.9, 6);
    expect(results[1].at(0)?.confidence).toBeCloseTo(0.8, 6);
    expect(d.stats.candidates).toBe(5);
  });

  test("arrays of other kinds are narrowed on the way in", () => {
    const plain = make().decode([three]).toArray();
    expect(
      make()
        .decode([{ data: Float64Array.from(three.data), dims: three.dims }])
        .toArray(),
    ).toEqual(plain);
    expect(
      make()
        .decode([{ data: [...three.data], dims: three.dims }])
        .toArray(),
    ).toEqual(plain);
    const big = {
      data: BigInt64Array.from([10n, 20n, 30n, 40n, 0n, 9n]),
      dims: [1, 1, 6],
      scale: 1,
      zeroPoint: 0,
    };
    expect(make({ scores: "logits" }).decode([big]).at(0)?.class_id).toBe(1);
    // bits of half floats that come as Int16Array, and plain arrays of integers
    const half = {
      data: Int16Array.from([0x4900, 0x4d00, 0x4f80, 0x5100, 0, 0x3800]),
      dims: [1, 1, 6],
      type: "float16" as const,
    };
    expect(make().decode([half]).at(0)).toMatchObject({ class_id: 1, confidence: 0.5 });
  });

  test("Float16Array, where the engine has it", () => {
    const Half = (globalThis as { Float16Array?: new (list: readonly number[]) => Float32Array })
      .Float16Array;
    if (Half === undefined) {
      // a stand-in that says the same of itself
      const data = Uint16Array.from([0x4900, 0x4d00, 0x4f80, 0x5100, 0, 0x3800]);
      Object.defineProperty(data, Symbol.toStringTag, { value: "Float16Array" });
      expect(
        make()
          .decode([{ data, dims: [1, 1, 6] }])
          .at(0),
      ).toMatchObject({ class_id: 1, confidence: 0.5 });
    } else {
      const data = new Half([10, 20, 30, 40, 0, 0.5]);
      expect(
        make()
          .decode([{ data, dims: [1, 1, 6] }])
          .at(0),
      ).toMatchObject({ class_id: 1, confidence: 0.5 });
    }
  });

  test("async makes the same decoder", async () => {
    const a = await createDecoder(ROWS, { engine });
    expect(a.engine).toBe(engine);
    expect(a.decode([three]).toArray()).toEqual(make().decode([three]).toArray());
    await expect(createDecoder("{", { engine })).rejects.toThrow("not JSON");
  });
});

test("describe before and after the tensors are known", () => {
  const d = createDecoderSync(ROWS, { keep: ["dog"] });
  const before = d.describe();
  expect(before.text).toContain("tensors: not known yet");
  expect(before.text).toContain("labels cat, dog");
  expect((before.json as { config: { format: string } }).config.format).toBe("options");
  d.decode([three]);
  d.update({ confidenceThreshold: [0.1, 0.2], iouThreshold: 0.6 });
  const { text, json } = d.describe();
  for (const line of [
    "family: yolov8 (option family)",
    "reading: class-rows",
    "scores: probabilities (the tensor holds probabilities)",
    "input: 100x100; batch 1; 2 classes",
    "tensor output0: [1,3,6] f32",
    "suppression per class at IoU > 0.6",
    "confidence > per class",
    "keep: classes 1",
  ])
    expect(text).toContain(line);
  const plan = planJson(d);
  expect(plan.family).toBe("yolov8");
  expect(plan.heads[0]).toMatchObject({ firstSource: 0, cells: 3 });
  expect(plan.iouThreshold).toBe(0.6);
  expect(JSON.parse(JSON.stringify(json))).toEqual(json);
});

test("describe, whole: quantised tensors, several labels a cell, a pixel added", () => {
  const d = createDecoderSync(
    { family: "yolov8", classes: 3, inputSize: [64, 64], keep: [2, 0], confidenceThreshold: 0.4 },
    {
      rules: { set: "depthai-nodes", multiLabel: true },
      iouThreshold: 0.6,
      maxDetections: 20,
      outputs: [
        { name: "box", dims: [1, 4, 84], type: "i8", scale: 0.5, zeroPoint: 3, order: "planes" },
        { name: "cls", dims: [1, 3, 84], type: "u8", scale: 1 / 256, zeroPoint: 7, order: "planes" },
      ],
    },
  );
  expect(d.describe().text.split("\n")).toEqual([
    "family: yolov8 (option family)",
    "reading: class-rows: boxes, classes: box [1,4,84] as planes + cls [1,3,84] as planes",
    "scores: probabilities (the tensor holds probabilities) (default of yolov8 class-rows)",
    "input: 64x64; batch 1; 3 classes",
    "tensor box: [1,4,84] i8, real = (raw - 3) * 0.5",
    "tensor cls: [1,3,84] u8, real = (raw - 7) * 0.00390625",
    // 8 x 8, 4 x 4 and 2 x 2
    "head: box [1,4,84] as planes + cls [1,3,84] as planes: 84 cells from number 0, box centre, score class",
    "rules: depthai-nodes: score class, confidence > 0.4, suppression per class at IoU > 0.6, clamp centre, multi-label, +1 pixel, at most 3000 candidates, 20 detections",
    "keep: classes 0, 2",
    "picture: letterbox to 64x64, pad 114, bilinear; RGB, (x - 0) / 255; f32 NCHW",
  ]);
  // of the raw numbers, what the text says: (67 - 3) / 2 is 32, (35 - 3) / 2 is 16, (199 - 7) / 256 is 0.75
  const box = new Int8Array(4 * 84);
  const cls = new Uint8Array(3 * 84).fill(7);
  [67, 67, 35, 35].forEach((v, k) => (box[k * 84] = v));
  [199, 255, 135].forEach((v, k) => (cls[k * 84] = v));
  const found = d.decode({
    box: { data: box, dims: [1, 4, 84], scale: 0.5, zeroPoint: 3 },
    cls: { data: cls, dims: [1, 3, 84], scale: 1 / 256, zeroPoint: 7 },
  });
  expect(found.toArray().map((x) => [x.class_id, x.confidence, x.x_min, x.x_max])).toEqual([
    [0, 0.75, 0.375, 0.625],
    [2, 0.5, 0.375, 0.625],
  ]);
});

test("describe says when logits look activated, what was left alone, and what was inferred", () => {
  const d = createDecoderSync({ family: "yolov3", classes: 1, anchors: [[[10, 10]]] });
  d.decode({
    map: { data: new Float32Array(24).fill(0.5), dims: [1, 6, 2, 2] },
    mask: { data: new Float32Array(8), dims: [1, 2, 2, 2] },
  });
  const { text } = d.describe();
  expect(text).toContain("left alone: mask [1,2,2,2]");
  expect(text).toContain("input size 64x64 from the 2x2 map at stride 32; the option inputSize settles it");
  expect(text).toContain('if the network applies the sigmoid itself, say scores: "probabilities"');
  // of a batch the tensors of all images are looked at
  const c = createDecoderSync({ ...ROWS, scores: "logits" });
  c.decode([rows([[1, 2, 3, 4, -5, 2]])]);
  expect(c.describe().text).not.toContain("already lies in 0..1");
});

test("sources number heads, anchors and cells in the order that describe gives", () => {
  const d = createDecoderSync({
    family: "yolov3",
    classes: 1,
    inputSize: [64, 64],
    anchors: [
      [
        [10, 10],
        [20, 20],
      ],
    ],
  });
  // 2 anchors x (5 + 1) channels on 2x2 cells: only cell 3 of anchor 1 is sure
  const data = new Float32Array(12 * 4).fill(-9);
  data[6 * 4 + 4 * 4 + 3] = 9;
  data[6 * 4 + 5 * 4 + 3] = 9;
  const found = d.decode([{ data, dims: [1, 12, 2, 2] }]);
  expect(found.length).toBe(1);
  expect(found.sources[0]).toBe(7);
  const { heads } = planJson(d);
  expect(heads.map((h) => h.firstSource)).toEqual([0, 4]);
});

test("a label past the list is the number as text", () => {
  const found = createDecoderSync({ family: "ssd-detection-output", labels: ["a"] }).decode([
    { data: Float32Array.from([0, 7, 0.9, 0, 0, 1, 1]), dims: [1, 1, 1, 7] },
  ]);
  expect(found.at(0)).toMatchObject({ class_id: 7, label: "7" });
});

test("toPixels multiplies x by the width and y by the height", () => {
  const d = { class_id: 1, label: "x", confidence: 0.5, x_min: 0.1, y_min: 0.2, x_max: 0.5, y_max: 1 };
  expect(toPixels(d, 640, 100)).toEqual({ ...d, x_min: 64, y_min: 20, x_max: 320, y_max: 100 });
  const untyped = toPixels as (...given: unknown[]) => unknown;
  for (const none of [[d], undefined, {}])
    expect(() => untyped(none, 640, 100)).toThrow(
      new TypeError(
        "got something without a number as x_min, expected a detection; of several, each by itself",
      ),
    );
  for (const edge of ["x_min", "y_min", "x_max", "y_max"])
    for (const value of [undefined, NaN, Infinity, "0.1"])
      expect(() => untyped({ ...d, [edge]: value }, 640, 100)).toThrow(
        `got something without a number as ${edge}, expected a detection`,
      );
  expect(() => untyped(d)).toThrow(
    "got undefined x undefined, expected width and height of the image in pixels",
  );
  expect(() => untyped(d, { width: 640, height: 100 })).toThrow(
    new RangeError(
      "got { width, height } x undefined, expected width and height of the image in pixels, as two numbers",
    ),
  );
  for (const wrong of [0, -1, NaN, Infinity])
    for (const size of [
      [wrong, 100],
      [640, wrong],
    ])
      expect(() => untyped(d, ...size), size.join(" x ")).toThrow(RangeError);
  expect(d.x_min).toBe(0.1);
  expect(() => toPixels(toPixels(d, 640, 480), 640, 480)).toThrow(
    new RangeError(
      "got a box from (64, 96) to (320, 480), expected coordinates 0..1: is it in pixels already?",
    ),
  );
  // A box may reach far beyond the image along one axis.
  expect(toPixels({ ...d, x_max: 40 }, 10, 10).x_max).toBe(400);
});

test("a detection has a corner, a width and a height, which are no part of its record", () => {
  const d = { class_id: 1, label: "x", confidence: 0.5, x_min: 0.25, y_min: 0.125, x_max: 0.5, y_max: 1 };
  const pixels = toPixels({ ...d, id: 7 } as typeof d, 640, 480);
  expect([pixels.x, pixels.y, pixels.width, pixels.height]).toEqual([160, 60, 160, 420]);
  const found = createDecoderSync({ family: "ssd-detection-output" }).decode([
    { data: Float32Array.from([0, 1, 0.5, 0.25, 0.125, 0.5, 1]), dims: [1, 1, 1, 7] },
  ]);
  const [first] = found;
  expect([first.x, first.y, first.width, first.height]).toEqual([0.25, 0.125, 0.25, 0.875]);
  const fields = ["class_id", "label", "confidence", "x_min", "y_min", "x_max", "y_max"];
  expect(Object.keys(first)).toEqual(fields);
  expect(Object.keys(JSON.parse(JSON.stringify(found))[0] as object)).toEqual(fields);
  // what a caller put beside the fields stays, and both print as plain objects
  expect(Object.keys(pixels)).toEqual([...fields, "id"]);
  expect(print(first)).toMatch(/^\{\s*class_id: 1/);
  expect(print(pixels)).toMatch(/^\{\s*class_id: 1/);
});

test("an ONNX Runtime result passes as it is", () => {
  /** The accessors and class of a runtime's tensor, not a plain object. */
  class Tensor {
    readonly #data = three.data;
    get data(): Float32Array {
      return this.#data;
    }
    readonly dims = three.dims;
    readonly type = "float32";
    readonly location = "cpu";
  }
  const outputs: Outputs = { output0: new Tensor() };
  expect(createDecoderSync(ROWS).decode(outputs).length).toBe(2);
});

describe("auto, by what the runtime has", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  /** The package loaded afresh: no kernel is compiled yet. */
  const fresh = async (hasScalar = true): Promise<typeof chooseEngine> => {
    vi.resetModules();
    if (hasScalar) await import("../support/scalar-kernel.ts");
    return (await import("../../src/engine/choose.ts")).chooseEngine;
  };

  test("no WebAssembly: TypeScript, and a named engine says what it misses", async () => {
    vi.stubGlobal("WebAssembly", undefined);
    expect(chooseEngine("auto")).toBe("ts");
    expect(createDecoderSync(ROWS).decode([three]).length).toBe(2);
    expect((await createDecoder(ROWS)).engine).toBe("ts");
    expect(() => createDecoderSync(ROWS, { engine: "simd" })).toThrow(
      'engine "simd": this runtime has no WebAssembly. Use engine "ts" or "auto".',
    );
  });

  test("no vectors: scalar", async () => {
    // The scalar build is compiled where it is handed over.
    const choose = await fresh();
    const Module = vi.fn(() => {
      throw new Error("no vectors");
    });
    vi.stubGlobal("WebAssembly", { Module });
    expect(choose("auto")).toBe("scalar");
    expect(Module).toHaveBeenCalledOnce();
  });

  test("compiling is forbidden: TypeScript", async () => {
    const Module = function (): never {
      throw new Error("unsafe-eval");
    };
    vi.stubGlobal("WebAssembly", { Module, validate: () => true });
    expect((await fresh(false))("auto")).toBe("ts");
  });
});

test("null where scale and zero point are not said", () => {
  const said = { scale: null, zeroPoint: null } as unknown as { scale: number; zeroPoint: number };
  expect(specOf("n", { dims: [1, 4], type: "i32", ...said })).toMatchObject({ scale: null, zeroPoint: 0 });
});

test("yxyx: rows of boxes with y first", () => {
  const decoder = createDecoderSync({
    family: "yolov8",
    classes: 1,
    coordinates: "normalised",
    boxFormat: "yxyx",
  });
  const [d] = decoder.decode([{ data: new Float32Array([0.1, 0.2, 0.3, 0.6, 0.9]), dims: [1, 1, 5] }]);
  for (const [got, expected] of [
    [d.x_min, 0.2],
    [d.y_min, 0.1],
    [d.x_max, 0.6],
    [d.y_max, 0.3],
  ])
    expect(got).toBeCloseTo(expected, 6);
});

test("typed options are checked by the compiler too, and files are not", () => {
  // @ts-expect-error -- no such family
  expect(() => createDecoderSync({ family: "yolo8", classes: 2 })).toThrow(ConfigError);
  // @ts-expect-error -- no such option
  expect(() => createDecoderSync({ family: "yolov8", clases: 2 })).toThrow("did you mean classes");
  // @ts-expect-error -- no number
  expect(() => createDecoderSync({ family: "yolov8", confidenceThreshold: "0.5" })).toThrow(ConfigError);
  const family: string = "yolov8";
  const file: unknown = { family };
  for (const d of [createDecoderSync({ family }), createDecoderSync(file), createDecoderSync("{}")])
    expect(d.stats.frames).toBe(0);
});

test("methods work without their decoder", () => {
  const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
  const data = Float32Array.from({ length: 5 * 84 }, (_, i) => (i < 4 * 84 ? 20 : 0.9));
  const outputs = { o: { data, dims: [1, 5, 84] } };
  const { decode, decodeBatch, update, describe: explain, receive } = decoder;
  expect(decode(outputs).length).toBe(decodeBatch(outputs)[0].length);
  update({ confidenceThreshold: 0.95 });
  expect(decode(outputs)).toHaveLength(0);
  expect(explain().text).toContain("yolov8");
  expect(() => receive(5 as never)).toThrow("receive: got 5");
  // The index that `map` passes is no frame.
  expect(() => [outputs].map(decode as never)).toThrow("frame: got 0, expected one frame");
  expect(Object.keys(decoder)).not.toContain("decode");
});
