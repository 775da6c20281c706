/** Values of another unit or type that JavaScript takes without a word: text for numbers, 0..1 for pixels, degrees. */
import { describe, expect, test } from "vitest";
import {
  createDecoderSync,
  createDetector,
  createTileMerger,
  createTracker,
  cropOf,
  drawCanvas,
  fuse,
  liteRt,
  nextCropOf,
  nms,
  onnxRuntime,
  prepareImage,
  ssdAnchors,
  suppress,
  suppressDetections,
  tfjs,
  tflite,
  toCoco,
  toPacket,
  toPixels,
  toRoboflow,
  toSupervision,
  webnn,
} from "../../src/entries/index.ts";
import { compilePlan } from "../../src/entries/node.ts";
import { loadPlanSync } from "../../src/entries/plan.ts";

const DIMS = [1, 6, 84];
const CONFIG = { family: "yolov8", classes: 2, inputSize: [64, 64] } as const;
const CAT = { class_id: 1, label: "cat", confidence: 0.5, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 };

/** Outputs with one box of class 1, 20 x 24 around (32, 16). */
function outputsOf(score: number): { data: Float32Array; dims: number[] }[] {
  const data = new Float32Array(6 * 84);
  [32, 16, 20, 24, 0, score].forEach((value, channel) => (data[channel * 84 + 10] = value));
  return [{ data, dims: DIMS }];
}

describe("a score that equals its threshold, compared in f32 as published decoders do", () => {
  // 0.1 is larger in f32 than as a double, 0.9 smaller.
  test.each([0.1, 0.3, 0.35, 0.7, 0.9])("%s", (threshold) => {
    const found = (options: object): number =>
      createDecoderSync({ ...CONFIG, ...options }).decode(outputsOf(threshold)).length;
    for (const confidenceThreshold of [threshold, [threshold, threshold]])
      for (const suppression of [undefined, "soft-gaussian"] as const) {
        expect(found({ confidenceThreshold, suppression, rules: { gate: ">=" } })).toBe(1);
        expect(found({ confidenceThreshold, suppression, rules: { gate: ">" } })).toBe(0);
      }
    expect([...nms([0, 0, 1, 1], [threshold], { scoreThreshold: threshold })]).toEqual([]);
  });
});

describe("crops", () => {
  const pose = createDecoderSync({ family: "rtmpose", inputSize: [192, 256] });
  const image = { data: new Uint8Array(64 * 48 * 4), width: 64, height: 48 };
  const crop = { cx: 32, cy: 24, width: 32, height: 32 };
  const uses: [string, (crop: object) => unknown][] = [
    ["prepareImage", (c) => prepareImage(image, { size: [64, 64] }, { crop: c as never })],
    [
      "decode",
      (c) =>
        createDecoderSync(CONFIG).decode(outputsOf(0.9), {
          ...{ width: 64, height: 48, resize: "stretch" as const },
          crop: c as never,
        }),
    ],
  ];
  test.each(uses)("in 0..1 or in degrees: %s", (_, use) => {
    expect(() => use({ cx: 0.5, cy: 0.5, width: 0.5, height: 0.5 })).toThrow(
      /crop: got a centre of 0.5, 0.5 and sides of 0.5 x 0.5, expected pixels of the image, no fractions of it/,
    );
    expect(() => use({ ...crop, angle: 90 })).toThrow(
      /crop: got the angle 90, expected radians, not degrees/,
    );
    expect(() => use(crop)).not.toThrow();
  });
  test("of a detection in pixels, or by a factor that is text", () => {
    const size = { width: 640, height: 480 };
    expect(() => cropOf(pose, { ...CAT, x_min: 200, y_min: 20, x_max: 400, y_max: 80 }, size)).toThrow(
      "cropOf: got a box [200,20,400,80], expected 0..1 across the image, no pixels",
    );
    expect(() => cropOf(pose, CAT, size, "1.5" as never)).toThrow(
      'scale: got "1.5", expected a number above 0',
    );
    expect(() => nextCropOf(undefined as never, 0)).toThrow(
      "nextCropOf: got undefined, expected what decode()",
    );
  });
});

describe("the place of a letterboxed image", () => {
  const decode = (resize: string, placed: readonly number[]) => () =>
    createDecoderSync(CONFIG).decode(outputsOf(0.9), { width: 640, height: 480, resize, placed } as never);
  test("outside of the input is refused, and that of a crop inside", () => {
    expect(decode("letterbox", [0, -8, 64, 48])).toThrow(/frame: got placed \[0,-8,64,48\]/);
    expect(decode("letterbox", [-30, 8, 64, 48])).toThrow(/frame: got placed/);
    expect(decode("crop", [10, 0, 85, 64])).toThrow(/frame: got placed/);
    expect(decode("letterbox", [0, 8, 64, 48])).not.toThrow();
    expect(decode("crop", [-10.7, 0, 85.3, 64])).not.toThrow();
  });
});

describe("tiles", () => {
  const decoder = createDecoderSync(CONFIG);
  const merger = createTileMerger([10_000, 10_000]);
  test("decoded without a frame, in other proportions than the input", () => {
    for (const found of [decoder.decode(outputsOf(0.9)), decoder.decode(outputsOf(0.9)).copy()])
      expect(() => merger.add({ x: 0, y: 0, width: 640, height: 360 }, found)).toThrow(
        "detections: got those of an input of 64x64 without a frame for a tile of 640x360, expected the tile as the frame: decode(outputs, { width: 640, height: 360, resize })",
      );
    merger.clear();
    merger.add({ x: 0, y: 0, width: 640, height: 640 }, decoder.decode(outputsOf(0.9)));
    merger.add({ x: 0, y: 0, width: 640, height: 639 }, decoder.decode(outputsOf(0.9)));
    expect(merger.length).toBe(2);
  });
  test("cut by the detector, whose crops are of the whole picture", () => {
    const frame = { width: 1280, height: 720, resize: "stretch" } as const;
    const crop = { cx: 320, cy: 320, width: 640, height: 640 };
    const found = decoder.decode(outputsOf(0.9), { ...frame, crop });
    expect(() => merger.add({ x: 0, y: 0, width: 640, height: 640 }, found)).toThrow(
      "detections: got those of a frame of 1280x720 for a tile of 640x640, expected { x: 0, y: 0, width: 1280, height: 720 } as the tile: what was found in a crop is in 0..1 of the whole picture",
    );
    const whole = createTileMerger([1280, 720]);
    whole.add({ x: 0, y: 0, width: 1280, height: 720 }, found);
    // 20 x 24 around (32, 16) of the input, ten times as large.
    const [box] = whole.merge();
    expect(toPixels(box, 1280, 720).x_min).toBeCloseTo(220, 3);
    expect(toPixels(box, 1280, 720).y_max).toBeCloseTo(280, 3);
  });
  test("whose place is text", () => {
    const tile = { x: "1", y: 0, width: 640, height: 640 };
    expect(() => merger.add(tile as never, decoder.decode(outputsOf(0.9)))).toThrow(
      'tile: got {x: "1", y: 0',
    );
  });
});

test.each([
  [{ metadata: { conf_threshold: 0.1 } }, "NN_specific_metadata.conf_threshold", "confidence_threshold"],
  [{ metadata: { nms_threshold: 0.1 } }, "NN_specific_metadata.nms_threshold", "iou_threshold"],
  [{ metadata: { num_classes: 2 } }, "NN_specific_metadata.num_classes", "classes"],
  [{ block: { conf: 0.1 } }, "nn_config.conf", "confidence_threshold"],
  [{ block: { imgsz: 64 } }, "nn_config.imgsz", "input_size"],
  [{ root: { mapping: { labels: ["a", "b"] } } }, "mapping", "mappings"],
  [{ root: { mappings: { names: ["a", "b"] } } }, "mappings.names", "labels"],
])("a key that other tools have in place of one of nn_config: %j", (extra: object, path, meant) => {
  const { metadata, block, root } = extra as Record<string, object>;
  const nn_config = { NN_family: "YOLO", NN_specific_metadata: { classes: 2, ...metadata }, ...block };
  expect(() => createDecoderSync({ nn_config, ...root } as never, { family: "yolov8" })).toThrow(
    new RegExp(`^${path}: got an unknown name, expected .*did you mean ${meant}\\?$`, "m"),
  );
});

test("an area of a canvas in 0..1", () => {
  const context = { canvas: { width: 640, height: 480 } };
  expect(() => drawCanvas(context as never, [CAT], { area: { x: 0, y: 0, width: 1, height: 1 } })).toThrow(
    /got an area of .* to draw on, expected x, y, width and height in pixels/,
  );
});

test("text or objects where other functions want numbers", () => {
  const model = { boxes: [0, 0, 10, 10], scores: [0.9] };
  expect(() => fuse([{ ...model, weight: "2" as never }])).toThrow(
    'models[0].weight: got "2", expected a number above 0; a number has no quotes: 2',
  );
  expect(() => toPixels(CAT, "640" as never, "480" as never)).toThrow(
    "got 640 x 480, expected width and height",
  );
  for (const category of ["cat", { id: 17, name: "cat" }])
    expect(() =>
      toCoco([CAT], { imageId: 1, width: 8, height: 8, categories: [1, category] as never }),
    ).toThrow(/^categories: got .*, expected an id for class 1, a whole number$/);
});

describe("a detector", () => {
  const input = new Float32Array(3 * 64 * 64);
  let runs = 0;
  const run = (): Promise<object> => Promise.resolve((runs++, { output0: outputsOf(0.9)[0] }));
  const session = {
    inputs: [{ name: "images", dims: [1, 3, 64, 64], type: "float32" }],
    overlaps: false,
    createLane: () => ({ input: () => input, run, release: () => undefined, close: () => undefined }),
    close: () => undefined,
  };
  const source = { session: session as never, config: CONFIG };
  test.each(["yes", "2", true, -1, 0.5, Infinity])("warms up so many times: %s", async (warmUp) => {
    runs = 0;
    await expect(createDetector(source, { warmUp: warmUp as never })).rejects.toThrow(
      /options.warmUp: got .*, expected a whole number of runs from 0 to 1000/,
    );
    expect(runs).toBe(0);
  });
  test.each([0, 3])("warms up %s times", async (warmUp) => {
    runs = 0;
    await createDetector(source, { warmUp });
    expect(runs).toBe(warmUp);
  });
  test.each([
    ["onnxRuntime", onnxRuntime, "Tensor"],
    ["tfjs", tfjs, "ready"],
    ["tflite", tflite, "loadTFLiteModel"],
    ["liteRt", liteRt, "loadAndCompile"],
    ["webnn", webnn, "dispatch"],
  ] as const)("%s says what is no runtime", (name, adapter, member) => {
    const open = adapter as unknown as (runtime: unknown) => unknown;
    expect(() => open(undefined)).toThrow(
      `${name}: got undefined, expected the runtime, which has ${member}`,
    );
    expect(() => open(Promise.resolve())).toThrow(
      `${name}: got a promise, expected what it resolves to: await it`,
    );
    expect(() => open({ default: { [member]: true } })).toThrow(
      `${name}: got a module without ${member}, expected its default export`,
    );
    expect(() => open({ [member]: true, default: {} })).not.toThrow();
  });
  test("says what is no image", async () => {
    const detector = await createDetector(source);
    await expect(detector.detect(Promise.resolve() as never)).rejects.toThrow(
      "image: got a promise, expected what it resolves to: await it",
    );
    await expect(detector.detect([] as never)).rejects.toThrow(
      "image: got a list, expected one image: detectAll() takes a list",
    );
  });
});

test("scales per channel that do not fit say how many fit, and typed arrays how they become a list", () => {
  const decode = (tensor: object) => () =>
    createDecoderSync(CONFIG).decode([{ data: new Uint8Array(504), dims: DIMS, ...tensor } as never]);
  expect(decode({ scale: [1, 1], axis: 1 })).toThrow(
    "got 2 scales, 2 zero points for dims [1,6,84], expected one of each for every index of axis 1, which has 6",
  );
  expect(decode({ scale: [1, 1] })).toThrow("expected one of each for every index of an axis");
  expect(decode({ scale: Float32Array.of(1, 1) })).toThrow(
    /expected a positive number, or a list of them: \[\.\.\.scale\]/,
  );
});

describe("the sides of a frame that the detections know, exchanged", () => {
  const found = createDecoderSync(CONFIG)
    .decode(outputsOf(0.9), { width: 640, height: 480, resize: "stretch" })
    .copy();
  const wrong = { imageId: 1, width: 480, height: 640 };
  const calls: [string, () => unknown][] = [
    ["a tracker", () => createTracker({ size: [480, 640] }).update(found, 0)],
    ["suppressDetections", () => suppressDetections(found, { method: "diou", size: [480, 640] })],
    ["toCoco", () => toCoco(found, wrong)],
    ["toRoboflow", () => toRoboflow(found, wrong)],
    ["toSupervision", () => toSupervision(found, wrong)],
  ];
  test.each(calls)("%s", (_, call) => {
    expect(call).toThrow(/a frame of 640x480/);
  });
  test("other sizes pass: a caller may scale", () => {
    createTracker({ size: [1280, 960] }).update(found, 0);
    createTracker({ size: [480, 640] }).update(found.toArray(), 0);
    expect(toCoco(found, { imageId: 1, width: 640, height: 480 })[0].bbox[0]).toBeCloseTo(220, 3);
  });
});

test("a frame of less than a pixel is a fraction of something", () => {
  const decode = (width: number) =>
    createDecoderSync(CONFIG).decode(outputsOf(0.9), { width, height: 480, resize: "stretch" });
  expect(() => decode(0.5)).toThrow("frame: got width 0.5, height 480, expected the original image's size");
  expect(decode(1).length).toBe(1);
});

describe("options in an object that has no keys", () => {
  const others: [string, unknown][] = [
    ["a Map", new Map([["iouThreshold", 0.5]])],
    ["a Promise", Promise.resolve({})],
    ["an Int32Array", new Int32Array(0)],
    ["a Date", new Date(0)],
  ];
  const calls: [string, (options: never) => unknown][] = [
    ["createDecoder", (o) => createDecoderSync(CONFIG, o)],
    ["nms", (o) => nms([0, 0, 1, 1], [1], o)],
    ["suppress", (o) => suppress([0, 0, 1, 1], [1], o)],
    ["fuse", (o) => fuse([{ boxes: [0, 0, 1, 1], scores: [1] }], o)],
    ["createTracker", createTracker],
    ["loadPlan", (o) => loadPlanSync(compilePlan(CONFIG, { outputs: [{ name: "o", dims: DIMS }] }), o)],
    ["update", (o) => createDecoderSync(CONFIG).update(o)],
  ];
  test.each(calls)("%s", (_, call) => {
    for (const [name, value] of others)
      expect(() => call(value as never), name).toThrow(new RegExp(`got ${name.replace(/^an? (I|U)/, "$1")}`));
  });
});

test("typed arrays whose buffer went to another thread are named in words", () => {
  const gone = new Float32Array(4);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  for (const call of [
    () => nms([0, 0, 1, 1], [1], { iouThreshold: gone as never }),
    () => createDecoderSync(CONFIG).decode({ o: { data: outputsOf(0.9)[0].data, dims: gone as never } }),
    () => createDecoderSync(CONFIG).decode({ o: { ...outputsOf(0.9)[0], type: gone as never } }),
  ])
    expect(call).toThrow(/got (type )?(dims )?Float32Array \[\]/);
});

test("a clone that counts more rows than its columns have is refused, not looped over", () => {
  const found = createDecoderSync(CONFIG).decode(outputsOf(0.9)).copy();
  expect(() => toCoco({ ...found, length: 2 ** 31 } as never, { imageId: 1, width: 64, height: 64 })).toThrow(
    "detections.length: got 2147483648, expected at most 1, the rows that the columns have",
  );
});

test("nextCropOf without a row, and class ids of a tracker that are none", () => {
  const found = createDecoderSync(CONFIG).decode(outputsOf(0.9));
  expect(() => nextCropOf(found, undefined as never)).toThrow(
    "nextCropOf: got row undefined, expected the index",
  );
  expect(() => nextCropOf("abc" as never, 0)).toThrow('nextCropOf: got "abc", expected what decode()');
  const tracker = createTracker({ perClass: true });
  for (const classId of [undefined, 0.5, "1"])
    expect(() =>
      tracker.update({ length: 1, boxes: [0, 0, 9, 9], scores: [1], classIds: [classId as never] }, 0),
    ).toThrow(/^classIds\[0\]: got .*, expected a whole number of 32 bits$/);
});

test("a canvas without a 2D context, anchors with holes, and columns of BigInt are refused in words", () => {
  const area = { x: 0, y: 0, width: 64, height: 64 };
  expect(() => drawCanvas(null as never, [CAT], { area })).toThrow(
    'got null as the context, expected what canvas.getContext("2d") returns',
  );
  const anchors = { inputSize: [64, 64], strides: [8], minScale: 0.2, maxScale: 0.9 } as const;
  expect(() => ssdAnchors({ ...anchors, aspectRatios: [, 1] as never })).toThrow(
    "aspectRatios: got [undefined, 1], expected 2 positive numbers",
  );
  for (const interpolatedRatio of [5n, Symbol("s"), -1] as never[])
    expect(() => ssdAnchors({ ...anchors, interpolatedRatio })).toThrow(/^interpolatedRatio: got /);
  expect(ssdAnchors({ ...anchors, interpolatedRatio: 0 }).length).toBe(8 * 8 * 5 * 4);
  const scores = new BigInt64Array(1) as never;
  expect(() => createTracker().update({ length: 1, boxes: [0, 0, 9, 9], scores }, 0)).toThrow(
    "scores[0]: got 0n, expected a confidence in 0..1",
  );
  const found = createDecoderSync(CONFIG).decode(outputsOf(0.9)).copy();
  const send = (sources: unknown) =>
    toPacket(createDecoderSync(CONFIG), { ...found, sources } as never, null, { id: "1", source: "/a" });
  expect(() => send(5)).toThrow("sources: got 5, expected a list of the cells' indices");
  expect(send(found.sources).length).toBeGreaterThan(100);
});
