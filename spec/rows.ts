/**
 * Finished rows, in plain doubles: the meaning of each column, the rows that are padding, and the detections. Nothing
 * is suppressed again. Edges keep the order and the unit of the network.
 */

/** One row after its columns have names. */
export interface Row {
  /** Index of the image in the batch. */
  readonly image: number;
  readonly classId: number;
  readonly score: number;
  readonly box: readonly number[];
}

type Columns = readonly number[];

/** Functions that read a row, by the order of the row's columns. */
export const ROWS = {
  /** WongKinYiu/yolov7, models/experimental.py, ONNX_ORT: `export.py --end2end --max-wh`. */
  "image-box-class-score": (c: Columns): Row => ({
    image: c[0],
    box: c.slice(1, 5),
    classId: c[5],
    score: c[6],
  }),
  /** super-gradients, flat format; google/automl, efficientdet/tf2/postprocess.py, whose edges begin with y. */
  "image-box-score-class": (c: Columns): Row => ({
    image: c[0],
    box: c.slice(1, 5),
    score: c[5],
    classId: c[6],
  }),
  /** Caffe's DetectionOutput layer. */
  "detection-output": (c: Columns): Row => ({ image: c[0], classId: c[1], score: c[2], box: c.slice(3) }),
  /** Ultralytics' exports with `nms=True`, and mmdeploy's `dets` joined with its `labels`. */
  "end-to-end": (c: Columns): Row => ({ image: 0, box: c.slice(0, 4), score: c[4], classId: c[5] }),
  /** PaddleDetection, ppdet/modeling/post_process.py: multiclass_nms. */
  "class-score-box": (c: Columns): Row => ({ image: 0, classId: c[0], score: c[1], box: c.slice(2) }),
  "class-box-score": (c: Columns): Row => ({ image: 0, classId: c[0], score: c[5], box: c.slice(1, 5) }),
} as const;

/** True unless the row is padding. The image, class or score of padding is negative. */
const isRow = ({ image, classId, score }: Row): boolean => !(image < 0 || classId < 0 || score < 0);

/** True if no number of the row is NaN or infinite. */
const isFinite = ({ classId, score, box }: Row): boolean => [classId, score, ...box].every(Number.isFinite);

/** Returns the detections of one image, best first; equal scores stay in the order of their rows. */
export const detectionsOf = (
  rows: readonly Row[],
  image: number,
  threshold: number,
  maxDetections: number,
): readonly Row[] =>
  rows
    .filter((row) => isRow(row) && isFinite(row) && row.image === image && row.score > threshold)
    .sort((a, b) => b.score - a.score)
    .slice(0, maxDetections);

/**
 * Sets the image of each row. Rows are in the order of the images, and PaddleDetection's second output holds the row
 * count of each image.
 */
export const byCounts = (rows: readonly Row[], counts: readonly number[]): readonly Row[] =>
  counts.flatMap((count, image) => {
    const first = counts.slice(0, image).reduce((a, b) => a + b, 0);
    return rows.slice(first, first + count).map((row) => ({ ...row, image }));
  });

/**
 * Reads HailoRT's NMS_BY_CLASS, hailort.h: for each class a count, then that many rows y1 x1 y2 x2 score. Values after
 * the last class are not read.
 */
export function rowsOfHailo(values: readonly number[], classes: number): readonly Row[] {
  let at = 0;
  return Array.from({ length: classes }, (_, classId) => {
    const count = values[at++];
    return Array.from({ length: count }, (): Row => {
      const row = values.slice(at, (at += 5));
      return { image: 0, classId, score: row[4], box: row.slice(0, 4) };
    });
  }).flat();
}
