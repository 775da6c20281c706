/** Orders of columns in finished rows: one row for each detection that the network has decoded and suppressed. */
import type { ReadingName } from "./readings.ts";

/** The position of each column. */
export interface RowOrder {
  /** Count of columns in a row. */
  readonly width: number;
  /** Column of the image's index in the batch. Rows of padding have -1. `null`: rows have no index. */
  readonly image: number | null;
  /** Column of the first box value. The other three follow. */
  readonly box: number;
  readonly score: number;
  /** Column of class ids. `null`: class ids are in a separate tensor. */
  readonly classId: number | null;
  /** True if a second tensor holds the row count of each image. Rows follow each other, image by image. */
  readonly isCounted?: true;
  /** True if only the option `reading` selects this order: low scores of another order look like its edges. */
  readonly isOnlyStated?: true;
}

/** Largest accepted distance of a score from 0..1: two steps of f16, whose spacing above 1 is 2^-10. */
export const SLACK = 2 ** -9;

const ROW_ORDERS = {
  // YOLOv7 --end2end --max-wh
  "image-box-class-score": { width: 7, image: 0, box: 1, classId: 5, score: 6 },
  // super-gradients' flat format, and EfficientDet of google/automl, whose boxes begin with y.
  "image-box-score-class": { width: 7, image: 0, box: 1, score: 5, classId: 6 },
  "detection-output": { width: 7, image: 0, classId: 1, score: 2, box: 3 },
  "end-to-end": { width: 6, image: null, box: 0, score: 4, classId: 5 },
  // PaddleDetection with NMS inside
  "class-score-box": { width: 6, image: null, classId: 0, score: 1, box: 2, isCounted: true },
  // PINTO's export of DEIMv2
  "class-box-score": { width: 6, image: null, classId: 0, box: 1, score: 5, isOnlyStated: true },
  // mmdeploy: "dets" and "labels"
  "box-score-labels": { width: 5, image: null, box: 0, score: 4, classId: null },
} as const satisfies { readonly [R in ReadingName]?: RowOrder };

/** Name of an order. */
export type RowOrderName = keyof typeof ROW_ORDERS;

/** Facts from which finished rows are read, as heads/finished-rows.ts decides them. */
export interface RowFacts {
  /** Possible column orders. */
  readonly orders: readonly RowOrderName[];
  /** Index of the tensor of class ids, and of the tensor with the row count of each image. -1: there is none. */
  readonly classIds: number;
  readonly counts: number;
}

export const rowOrder = (name: RowOrderName): RowOrder => ROW_ORDERS[name];

/** Every order's name. */
export const ROW_ORDER_NAMES = /* @__PURE__ */ Object.keys(ROW_ORDERS) as readonly RowOrderName[];

/** Returns the columns of an order for people: "image x1 y1 x2 y2 class score". */
export function columnsText(name: RowOrderName, format: string): string {
  const { width, image, box, score, classId } = rowOrder(name);
  const columns = Array<string>(width);
  if (image !== null) columns[image] = "image";
  if (classId !== null) columns[classId] = "class";
  columns[score] = "score";
  const edges = format.startsWith("y") ? ["y1", "x1", "y2", "x2"] : ["x1", "y1", "x2", "y2"];
  edges.forEach((edge, i) => (columns[box + i] = edge));
  return columns.join(" ");
}

/**
 * Name of a packed format. "hailo": buffers of HailoRT with rows "y1 x1 y2 x2 score", which are grouped by class or
 * contain their class.
 */
export type PackedForm = "hailo";
