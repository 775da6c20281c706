/** Measures everything besides the decoder: trackers, suppression, tiles, masks, points. Each row has a digest. */
import { parseArgs } from "node:util";
import { crc32 } from "node:zlib";
import { pathToFileURL } from "node:url";
import type * as Boxwright from "../src/entries/index.ts";
import type * as Suppress from "../src/entries/index.ts";
import type * as Tiles from "../src/entries/index.ts";
import type * as Track from "../src/entries/index.ts";
import { type MaskRow, maskRows } from "./masks.ts";
import { networkRows } from "./networks.ts";
import { timeOf } from "./measure.ts";
import { chosen, positive, runScript } from "./options.ts";
import { mulberry32 } from "./random.ts";
import { machineLine, madeBy, printerFor, writeReport } from "./report.ts";
import { layOut, us } from "./table.ts";

interface Row {
  readonly name: string;
  /** Does the work once. Returns a value of the result, so that compilers keep the work. Must not always return 0. */
  readonly run: () => number;
  /** Returns the values for the digest; `fault` says what is wrong with them, and is absent if nothing is. */
  readonly answer: () => { readonly values: ArrayLike<number>; readonly fault?: string };
}

const load = async <T>(entry: string): Promise<T> =>
  (await import(pathToFileURL(`dist/${entry}.mjs`).href)) as T;

const OBJECTS = 100;
const FRAMES = 64;

interface Scene {
  readonly length: number;
  readonly boxes: Float32Array;
  readonly scores: Float32Array;
}

/** Makes frames of 1920 x 1080 pixels with 100 objects that move in circles. Each object is detected in every frame. */
function makeScene(): Scene[] {
  const random = mulberry32(41);
  const objects = Array.from({ length: OBJECTS }, (_, i) => ({
    x: 90 + 180 * (i % 10) + 60 * random(),
    y: 50 + 100 * Math.floor(i / 10) + 20 * random(),
    width: 40 + 60 * random(),
    height: 60 + 60 * random(),
    phase: 2 * Math.PI * random(),
  }));
  return Array.from({ length: FRAMES }, (_, f) => ({
    length: OBJECTS,
    boxes: Float32Array.from(
      objects.flatMap(({ x, y, width, height, phase }) => {
        const turn = phase + (2 * Math.PI * f) / FRAMES;
        const [left, top] = [x + 30 * Math.cos(turn) + random(), y + 20 * Math.sin(turn) + random()];
        return [left, top, left + width, top + height];
      }),
    ),
    scores: Float32Array.from(objects, () => 0.65 + 0.3 * random()),
  }));
}

/** Returns the row of a tracker. The scene can be repeated without a jump, since its circles are closed. */
function trackerRow(name: string, tracker: Track.Tracker, scene: readonly Scene[]): Row {
  let frame = 0;
  let ids: Int32Array = tracker.update(scene[0], 0);
  const run = (): number => {
    frame++;
    ids = tracker.update(scene[frame % FRAMES], frame / 30);
    return ids[0] + ids[OBJECTS - 1] + 1;
  };
  for (let i = 0; i < 3; i++) run();
  const first = Array.from(ids);
  return {
    name,
    run,
    answer: () => {
      const switched = first.filter((id, i) => id === 0 || id !== ids[i]).length;
      return { values: ids, ...(switched > 0 ? { fault: `${switched} of ${OBJECTS} ids are others` } : {}) };
    },
  };
}

/** Makes rows of centre, size and angle: 100 objects, each in ten cells. */
function makeOriented(): { readonly boxes: Float32Array; readonly scores: Float32Array } {
  const random = mulberry32(43);
  const boxes: number[] = [];
  for (let o = 0; o < 100; o++) {
    const [x, y, width, height] = [1024 * random(), 1024 * random(), 20 + 80 * random(), 10 + 30 * random()];
    const angle = Math.PI * random();
    for (let k = 0; k < 10; k++)
      boxes.push(
        x + 4 * random(),
        y + 4 * random(),
        width * (0.9 + 0.2 * random()),
        height * (0.9 + 0.2 * random()),
        angle + 0.1 * random(),
      );
  }
  return { boxes: Float32Array.from(boxes), scores: Float32Array.from({ length: 1000 }, () => random()) };
}

function suppressionRows({ nmsOriented, suppress }: typeof Suppress): Row[] {
  const { boxes, scores } = makeOriented();
  const upright = new Float32Array(4000);
  for (let i = 0; i < 1000; i++) for (let k = 0; k < 4; k++) upright[4 * i + k] = boxes[5 * i + k];
  const row = (name: string, run: () => Int32Array): Row => ({
    name,
    run: () => run().length,
    answer: () => ({ values: run() }),
  });
  const methods = ["hard", "fast", "diou", "soft-gaussian", "matrix", "weighted", "merge", "nmw"] as const;
  return [
    ...(["probiou", "polygon"] as const).flatMap((iou) =>
      (["fast", "hard"] as const).map((method) =>
        row(`oriented-${iou}-${method}`, () => nmsOriented(boxes, scores, { iou, method })),
      ),
    ),
    ...methods.map((method) =>
      row(`suppress-${method}`, () => suppress(upright, scores, { method, boxFormat: "cxcywh" }).indices),
    ),
  ];
}

/** Cells of a 1024 x 1024 input, and classes of DOTA. */
const CELLS = 21504;
const CLASSES = 15;

/** Makes planes [1,20,21504] of an oriented network: 100 objects, each in six cells of the largest map. */
function makeOrientedPlanes(): Float32Array {
  const random = mulberry32(53);
  const planes = new Float32Array((4 + CLASSES + 1) * CELLS);
  const set = (cell: number, values: readonly number[]): void =>
    values.forEach((v, channel) => (planes[channel * CELLS + cell] = v));
  for (let cell = 0; cell < CELLS; cell++)
    set(cell, [
      ...[1024, 1024, 60, 60].map((range) => range * random()),
      ...Array.from({ length: CLASSES }, () => 0.01 * random()),
      Math.PI * (random() - 0.25),
    ]);
  for (let o = 0; o < OBJECTS; o++) {
    const [column, row] = [1 + Math.floor(126 * random()), 1 + Math.floor(126 * random())];
    const [width, height, angle] = [20 + 80 * random(), 10 + 30 * random(), Math.PI * (random() - 0.25)];
    const classId = Math.floor(CLASSES * random());
    for (let k = 0; k < 6; k++) {
      const cell = (row + Math.floor(k / 3)) * 128 + column + (k % 3) - 1;
      const near = (v: number, range: number): number => v + range * (random() - 0.5);
      set(cell, [
        near(8 * column + 4, 4),
        near(8 * row + 4, 4),
        near(width, 4),
        near(height, 4),
        ...Array.from({ length: CLASSES }, (_, c) =>
          c === classId ? 0.3 + 0.6 * random() : 0.01 * random(),
        ),
        Math.max(-0.78, near(angle, 0.1)),
      ]);
    }
  }
  return planes;
}

/** Decodes one tensor as oriented boxes, and as upright boxes of 16 classes, where the last class is empty. */
async function orientedDecodes({ createDecoderSync }: typeof Boxwright): Promise<Row[]> {
  const planes = makeOrientedPlanes();
  const common = { family: "yolov8", inputSize: [1024, 1024] } as const;
  const upright = planes.slice().fill(0, (4 + CLASSES) * CELLS);
  const row = (name: string, decoder: Boxwright.Decoder, data: Float32Array): Row => {
    const outputs = { output0: { data, dims: [1, 4 + CLASSES + 1, CELLS] } };
    const run = (): Boxwright.Detections => decoder.decode(outputs);
    return {
      name,
      run: () => run().length,
      answer: () => {
        const { length, boxes, angles } = run().copy();
        return { values: [length, ...boxes, ...(angles ?? [])] };
      },
    };
  };
  return [
    row("decode-upright", createDecoderSync({ ...common, classes: CLASSES + 1 }), upright),
    ...(["ultralytics", "probiou", "opencv"] as const).map((orientedSuppression) =>
      row(
        `decode-oriented-${orientedSuppression}`,
        createDecoderSync({
          ...common,
          classes: CLASSES,
          task: "oriented",
          orientedSuppression: orientedSuppression,
        }),
        planes,
      ),
    ),
  ];
}

/** Cells of a 640 x 640 input, and values of the 17 points of a person. */
const POSE_CELLS = 8400;
const POSE_VALUES = 51;

/** Makes planes [1,56,8400] of a pose network: 30 people, each in ten cells of the largest map. */
function makePosePlanes(): Float32Array {
  const random = mulberry32(59);
  const planes = new Float32Array((5 + POSE_VALUES) * POSE_CELLS);
  const set = (cell: number, values: readonly number[]): void =>
    values.forEach((v, channel) => (planes[channel * POSE_CELLS + cell] = v));
  // The third of three values is a confidence, 0..1.
  const point = (_: unknown, k: number): number => (k % 3 === 2 ? 1 : 640) * random();
  for (let cell = 0; cell < POSE_CELLS; cell++)
    set(cell, [
      ...[640, 640, 60, 60].map((range) => range * random()),
      0.01 * random(),
      ...Array.from({ length: POSE_VALUES }, point),
    ]);
  for (let o = 0; o < 30; o++) {
    const [column, row] = [2 + Math.floor(76 * random()), 1 + Math.floor(78 * random())];
    const [width, height] = [20 + 80 * random(), 40 + 120 * random()];
    for (let k = 0; k < 10; k++) {
      const cell = (row + Math.floor(k / 5)) * 80 + column + (k % 5) - 2;
      const near = (v: number, range: number): number => v + range * (random() - 0.5);
      const box = [near(8 * column + 4, 4), near(8 * row + 4, 4), near(width, 4), near(height, 4)];
      set(cell, [...box, 0.3 + 0.6 * random(), ...Array.from({ length: POSE_VALUES }, point)]);
    }
  }
  return planes;
}

/**
 * Decodes one tensor as people with points, as boxes of 52 classes (with 0 instead of the points), and as boxes of
 * people from the first five channels alone. Rows with "-slot" decode without copying the tensor into the slot.
 */
async function poseDecodes({ createDecoderSync }: typeof Boxwright): Promise<Row[]> {
  const planes = makePosePlanes();
  const common = { family: "yolov8", inputSize: [640, 640] } as const;
  const boxes = planes.slice().fill(0, 5 * POSE_CELLS);
  const rows = (name: string, decoder: Boxwright.Decoder, data: Float32Array, channels: number): Row[] => {
    const outputs = { output0: { data, dims: [1, channels, POSE_CELLS] } };
    const row = (suffix: string, run: () => Boxwright.Detections): Row => ({
      name: name + suffix,
      run: () => run().length,
      answer: () => {
        const { length, boxes, keypoints } = run().copy();
        return { values: [length, ...boxes, ...(keypoints ?? [])] };
      },
    });
    decoder.decode(outputs);
    return [
      row("", () => decoder.decode(outputs)),
      // The previous call left the tensor in the slot.
      row("-slot", () => decoder.decode()),
    ];
  };
  return [
    ...rows(
      "decode-boxes",
      createDecoderSync({ ...common, classes: 1 + POSE_VALUES }),
      boxes,
      5 + POSE_VALUES,
    ),
    ...rows(
      "decode-people",
      createDecoderSync({ ...common, classes: 1 }),
      planes.slice(0, 5 * POSE_CELLS),
      5,
    ),
    ...rows(
      "decode-pose",
      createDecoderSync({ ...common, classes: 1, task: "pose", keypoints: [17, 3] }),
      planes,
      5 + POSE_VALUES,
    ),
  ];
}

/** Decodes 17 points of a person's crop. Prepares and decodes a hand's rotated crop from 1280 x 720 pixels. */
function cropRows({ createDecoderSync }: typeof Boxwright): Row[] {
  const random = mulberry32(53);
  const scores = (count: number): Float32Array => Float32Array.from({ length: count }, () => 0.3 * random());
  const row = (name: string, run: () => Boxwright.Detections): Row => ({
    name,
    run: () => run().length,
    answer: () => ({ values: run().copy().keypoints ?? [] }),
  });
  const simcc = createDecoderSync({ family: "rtmpose", inputSize: [192, 256] });
  const axes = {
    simcc_x: { data: scores(17 * 384), dims: [1, 17, 384] },
    simcc_y: { data: scores(17 * 512), dims: [1, 17, 512] },
  };
  const heatmaps = { heatmaps: { data: scores(17 * 64 * 48), dims: [1, 17, 64, 48] } };
  const [hrnet, vitpose] = (["hrnet", "vitpose"] as const).map((family) =>
    createDecoderSync({ family, inputSize: [192, 256] }),
  );
  const hand = createDecoderSync({ family: "hand-landmarks", inputSize: [224, 224] });
  const points = {
    Identity: { data: scores(63).map((x) => 700 * x), dims: [1, 63] },
    Identity_1: { data: Float32Array.of(0.9), dims: [1, 1] },
    Identity_2: { data: Float32Array.of(0.9), dims: [1, 1] },
    Identity_3: { data: scores(63), dims: [1, 63] },
  };
  const image = { data: Uint8Array.from({ length: 1280 * 720 * 4 }, (_, i) => i), width: 1280, height: 720 };
  const into = new Float32Array(3 * 224 * 224);
  const crop = { cx: 600, cy: 300, width: 380, height: 380, angle: 0.4 };
  return [
    row("points-simcc", () => simcc.decode(axes)),
    row("points-heatmaps", () => hrnet.decode(heatmaps)),
    row("points-heatmaps-dark", () => vitpose.decode(heatmaps)),
    row("points-hand", () => hand.decode(points, hand.prepare(image, { crop, into }).frame)),
  ];
}

/** Merges 20 tiles of a picture of 2500 x 1600 pixels, 50 detections in each. */
function tileRows({ Detections, createTileMerger, tiles }: typeof Tiles): Row[] {
  const random = mulberry32(47);
  const size = [2500, 1600] as const;
  const parts = tiles(size, { tile: [640, 512] }).map((tile) => {
    const boxes = Array.from({ length: 50 }, () => [0.9 * random(), 0.9 * random()]).flatMap(([x, y]) => [
      x,
      y,
      x + 0.1 * random(),
      y + 0.1 * random(),
    ]);
    const scores = Float32Array.from({ length: 50 }, () => random());
    const found = new Detections(
      Float32Array.from(boxes),
      scores,
      new Int32Array(50),
      Uint32Array.from(scores.keys()),
      null,
    );
    return [tile, Object.assign(found, { length: 50 })] as const;
  });
  return (["greedy-nmm", "nmm", "nms"] as const).map((method) => {
    const merger = createTileMerger(size, { method, maxDetections: 1000 });
    const merge = () => {
      merger.clear();
      for (const [tile, found] of parts) merger.add(tile, found);
      return merger.merge();
    };
    return { name: `tiles-${method}`, run: () => merge().length, answer: () => ({ values: merge().boxes }) };
  });
}

async function rowsOf(): Promise<(Row | MaskRow)[]> {
  const { createTracker } = await load<typeof Track>("index");
  const scene = makeScene();
  return [
    ...(["sort", "bytetrack", "ocsort"] as const).map((method) =>
      trackerRow(`track-${method}`, createTracker({ method }), scene),
    ),
    ...suppressionRows(await load<typeof Suppress>("index")),
    ...(await orientedDecodes(await load<typeof Boxwright>("index"))),
    ...(await poseDecodes(await load<typeof Boxwright>("index"))),
    ...cropRows(await load<typeof Boxwright>("index")),
    ...tileRows(await load<typeof Tiles>("index")),
    ...maskRows(await load<typeof Boxwright>("index")),
    ...networkRows(await load<typeof Boxwright>("index")),
  ];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, time: { type: "string" }, out: { type: "string" } },
  });
  const print = printerFor(values.out);
  const milliseconds = positive("--time", values.time, 700);
  const made = madeBy("bench:beyond");
  print(machineLine(made));
  const reports = [];
  for (const row of chosen("--only", values.only, await rowsOf(), ({ name }) => name)) {
    const { name, run, answer } = row;
    const timing = "timed" in row && row.timed ? row.timed(milliseconds) : await timeOf(run, milliseconds);
    const { values: found, fault = "" } = answer();
    const digest = crc32(Buffer.from(Float32Array.from(found).buffer))
      .toString(16)
      .padStart(8, "0");
    reports.push({ name, ...timing, digest, fault });
  }
  const lines = reports.map((r) => [r.name, us(r.median), us(r.min), us(r.p90), r.digest, r.fault]);
  for (const line of layOut(["row", "median us", "min", "p90", "digest", ""], lines, 1)) print(line);
  writeReport(values.out, { ...made, milliseconds, rows: reports });
  if (reports.some(({ fault }) => fault !== "")) process.exitCode = 1;
}

await runScript(main);
