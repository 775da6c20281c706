/**
 * Rows that a network finished: spec/rows.ts against all engines on random rows, in every order of columns. The fuzzer
 * (scripts/fuzz.sh) runs it for longer. Then rows and counts that are not valid.
 */
import { describe, expect, test } from "vitest";
import { type Row, ROWS, byCounts, detectionsOf, rowsOfHailo } from "../../spec/rows.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import type { Detections } from "../../src/decode/detections.ts";
import { createDecoderSync } from "../../src/entries/index.ts";
import { engines } from "../support/engines.ts";
import { forSeeds, proveShares } from "../support/fuzz-seeds.ts";
import { repeats } from "../support/effort.ts";
import { type Random, mulberry32, pick } from "../support/seeded-networks.ts";

const [WIDTH, HEIGHT, CLASSES] = [64, 32, 5];
const THRESHOLD = 0.25;

/** A network that writes rows: the order of its columns, and how the specification reads them. */
interface Kind {
  readonly options: Partial<TypedOptions>;
  /** Columns of a row, in order. */
  readonly columns: (row: Row) => number[];
  readonly read: (columns: readonly number[]) => Row;
  /** Images of a batch stand in a column, in the first dimension, or a second tensor counts their rows. */
  readonly images: "column" | "dimension" | "counts";
}

const KINDS: { readonly [name: string]: Kind } = {
  yolov7: {
    options: { family: "yolov7" },
    columns: (r) => [r.image, ...r.box, r.classId, r.score],
    read: ROWS["image-box-class-score"],
    images: "column",
  },
  "yolo-nas": {
    options: { family: "yolo-nas" },
    columns: (r) => [r.image, ...r.box, r.score, r.classId],
    read: ROWS["image-box-score-class"],
    images: "column",
  },
  "boxes as yolov7": {
    options: { family: "boxes", reading: "image-box-class-score" },
    columns: (r) => [r.image, ...r.box, r.classId, r.score],
    read: ROWS["image-box-class-score"],
    images: "column",
  },
  "boxes as DetectionOutput": {
    options: { family: "boxes", reading: "detection-output" },
    columns: (r) => [r.image, r.classId, r.score, ...r.box],
    read: ROWS["detection-output"],
    images: "column",
  },
  "boxes end to end": {
    options: { family: "boxes", reading: "end-to-end" },
    columns: (r) => [...r.box, r.score, r.classId],
    read: ROWS["end-to-end"],
    images: "dimension",
  },
  mmdeploy: {
    options: { family: "mmdeploy" },
    columns: (r) => [...r.box, r.score, r.classId],
    read: ROWS["end-to-end"],
    images: "dimension",
  },
  "paddle-nms": {
    options: { family: "paddle-nms", coordinates: "pixels" },
    columns: (r) => [r.classId, r.score, ...r.box],
    read: ROWS["class-score-box"],
    images: "counts",
  },
  label_xyxy_score: {
    options: { family: "boxes", reading: "class-box-score", coordinates: "pixels" },
    columns: (r) => [r.classId, ...r.box, r.score],
    read: ROWS["class-box-score"],
    images: "dimension",
  },
};

/** Draws a row. Whole eighths of pixels and of scores are exact in f32, and many scores are equal. */
function drawRow(random: Random, image: number): Row {
  const at = (span: number): number => Math.floor(random() * span * 8) / 8;
  const [x, y] = [at(40), at(20)];
  const isPadding = random() < 0.1;
  return {
    image,
    classId: isPadding ? -1 : Math.floor(random() * CLASSES),
    score: isPadding ? 0 : pick(random, [Math.fround(random()), 0.25, 0.5, 1]),
    box: [x, y, x + at(20), y + at(10)],
  };
}

interface Case {
  readonly outputs: Record<string, TensorInput>;
  readonly rows: readonly Row[];
  readonly images: number;
}

function drawCase(random: Random, { columns, read, images: how }: Kind, isMmdeploy: boolean): Case {
  const images = pick(random, [1, 1, 2, 3]);
  const each = Math.floor(random() ** 2 * 40);
  const counts = Array.from({ length: images }, () =>
    how === "dimension" ? each : Math.floor(random() ** 2 * 40),
  );
  const drawn = counts.map((count, image) => Array.from({ length: count }, () => drawRow(random, image)));
  // Rows of a column of images may stand in any order.
  const flat = drawn.flat();
  if (how === "column") flat.sort(() => random() - 0.5);
  const values = flat.map((row) => columns(row));
  const width = columns(drawRow(random, 0)).length;
  const rows =
    how === "counts"
      ? byCounts(values.map(read), counts)
      : how === "column"
        ? values.map(read)
        : byCounts(values.map(read), counts);
  if (isMmdeploy) {
    const outputs = {
      dets: { data: Float32Array.from(values.flatMap((v) => v.slice(0, 5))), dims: [images, each, 5] },
      labels: { data: BigInt64Array.from(values, (v) => BigInt(v[5])), dims: [images, each] },
    };
    return { outputs, rows, images };
  }
  const data = Float32Array.from(values.flat());
  const dims = how === "dimension" ? [images, each, width] : [flat.length, width];
  return {
    outputs: {
      rows: { data, dims },
      ...(how === "counts" && { counts: { data: Int32Array.from(counts), dims: [images] } }),
    },
    rows,
    images,
  };
}

const plain = (found: Detections): unknown[] =>
  found.toArray().map((d) => ({
    classId: d.class_id,
    score: d.confidence,
    box: [d.x_min * WIDTH, d.y_min * HEIGHT, d.x_max * WIDTH, d.y_max * HEIGHT],
  }));

const optionsOf = (options: Partial<TypedOptions>): TypedOptions =>
  ({
    classes: CLASSES,
    inputSize: [WIDTH, HEIGHT],
    confidenceThreshold: THRESHOLD,
    maxDetections: 30,
    rules: { clamp: "none" },
    ...options,
  }) as TypedOptions;

test.each(Object.keys(KINDS))("random rows: %s", (name) => {
  const kind = KINDS[name];
  let detections = 0;
  const done = forSeeds(1 / 8, repeats(30, 10), (seed) => {
    const { outputs, rows, images } = drawCase(mulberry32(seed), kind, name === "mmdeploy");
    for (const engine of engines) {
      const found = createDecoderSync(optionsOf(kind.options), { engine }).decodeBatch(
        outputs,
        Array.from({ length: images }, () => ({ width: WIDTH, height: HEIGHT, resize: "stretch" as const })),
      );
      expect(found.length, `seed ${seed}`).toBe(images);
      found.forEach((one, image) => {
        const expected = detectionsOf(rows, image, THRESHOLD, 30).map(({ classId, score, box }) => ({
          classId,
          score,
          box,
        }));
        detections += expected.length;
        expect(plain(one), `${name}, seed ${seed}, ${engine}, image ${image}`).toEqual(expected);
      });
    }
  });
  if (proveShares(done)) expect(detections).toBeGreaterThan(done);
});

test("random buffers of HailoRT", () => {
  forSeeds(1 / 8, repeats(30, 10), (seed) => {
    const random = mulberry32(seed);
    const most = 8;
    const buffer = new Float32Array(CLASSES * (1 + 5 * most)).map(() => 99 * random());
    let at = 0;
    for (let id = 0; id < CLASSES; id++) {
      const count = Math.floor(random() * (most + 1));
      buffer[at++] = count;
      for (let i = 0; i < count; i++) {
        const { box, score } = drawRow(random, 0);
        buffer.set([box[1] / HEIGHT, box[0] / WIDTH, box[3] / HEIGHT, box[2] / WIDTH, score], at);
        at += 5;
      }
    }
    const expected = detectionsOf(rowsOfHailo([...buffer], CLASSES), 0, THRESHOLD, 30).map(
      ({ classId, score, box: [y1, x1, y2, x2] }) => ({
        classId,
        score,
        box: [x1 * WIDTH, y1 * HEIGHT, x2 * WIDTH, y2 * HEIGHT],
      }),
    );
    for (const engine of engines) {
      const decoder = createDecoderSync(optionsOf({ family: "hailo-nms" }), { engine });
      const found = decoder.decode({ nms: { data: buffer, dims: [1, buffer.length] } });
      expect(plain(found), `seed ${seed}, ${engine}`).toEqual(expected);
    }
  });
});

describe("rows that are none", () => {
  const good = (kind: Kind): number[][] =>
    [0.9, 0.75, 0.5].map((score, i) =>
      kind.columns({ image: 0, classId: i, score, box: [4 * i, 2, 4 * i + 8, 9] }),
    );
  const decode = (kind: Kind, values: readonly (readonly number[])[], more: object = {}): unknown =>
    createDecoderSync(optionsOf(kind.options)).decode(
      {
        rows: { data: Float32Array.from(values.flat()), dims: [values.length, values[0].length] },
        ...(kind.images === "counts" && { counts: { data: Int32Array.of(values.length), dims: [1] } }),
        ...more,
      },
      { width: WIDTH, height: HEIGHT, resize: "stretch" },
    );
  const kinds = Object.entries(KINDS).filter(([name]) => name !== "mmdeploy");

  test.each(kinds)("%s: a column missing", (_, kind) => {
    expect(() =>
      decode(
        kind,
        good(kind).map((row) => row.slice(1)),
      ),
    ).toThrow(/expected/);
  });

  test.each(kinds)("%s: transposed", (_, kind) => {
    const rows = good(kind);
    const turned = rows[0].map((__, c) => rows.map((row) => row[c]));
    expect(() => decode(kind, turned)).toThrow(/expected/);
  });

  test.each(kinds)("%s: a class that is no whole number, and a class too many", (_, kind) => {
    for (const classId of [1.5, CLASSES]) {
      const wrong = kind.columns({ image: 0, classId, score: 0.9, box: [0, 0, 8, 8] });
      expect(() => decode(kind, [...good(kind), wrong])).toThrow(/expected/);
    }
  });

  test.each(kinds)("%s: a score of 2", (_, kind) => {
    const wrong = kind.columns({ image: 0, classId: 1, score: 2, box: [0, 0, 8, 8] });
    expect(() => decode(kind, [...good(kind), wrong])).toThrow(/expected/);
  });

  test.each(kinds)("%s: NaN is dropped, and counted", (_, kind) => {
    const wrong = kind.columns({ image: 0, classId: 1, score: 0.95, box: [NaN, 0, 8, 8] });
    const found = decode(kind, [wrong, ...good(kind)]) as Detections;
    expect(found.length).toBe(3);
  });

  test("counts beyond the rows, and a negative one", () => {
    const kind = KINDS["paddle-nms"];
    for (const count of [4, -1])
      expect(() => decode(kind, good(kind), { counts: { data: Int32Array.of(count), dims: [1] } })).toThrow(
        /count/,
      );
  });

  test("class ids of mmdeploy for another number of rows", () => {
    expect(() =>
      createDecoderSync(optionsOf({ family: "mmdeploy" })).decode({
        dets: { data: new Float32Array(15), dims: [1, 3, 5] },
        labels: { data: new BigInt64Array(2), dims: [1, 2] },
      }),
    ).toThrow("2 class ids, expected 3");
  });

  test("records of HailoRT with masks are told from those without", () => {
    const bytes = 2 + 2 * 46 + 12 + 20;
    const buffer = new DataView(new ArrayBuffer(bytes));
    buffer.setUint16(0, 2, true);
    [12, 20].forEach((size, i) => {
      const at = 2 + 46 * i;
      [0.1, 0.1, 0.5, 0.5, 0.9].forEach((x, k) => buffer.setFloat32(at + 4 * k, x, true));
      buffer.setUint16(at + 20, 1, true);
      buffer.setBigUint64(at + 22, BigInt(size), true);
      buffer.setBigUint64(at + 38, BigInt(2 + 92 + 12 * i), true);
    });
    expect(() =>
      createDecoderSync(optionsOf({ family: "hailo-nms" })).decode({
        nms: { data: new Uint8Array(buffer.buffer), dims: [1, bytes] },
      }),
    ).toThrow("got records with masks, HailoRT's NMS_WITH_BYTE_MASK");
  });
});
