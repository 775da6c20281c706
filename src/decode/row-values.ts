/** Reads finished rows as numbers: finds the column order that fits the values, and the image of each row. */
import { refuse } from "../core/errors.ts";
import { type RowOrder, type RowOrderName, rowOrder, SLACK } from "../core/row-orders.ts";
import { shape, type TensorSpec } from "../core/tensor.ts";

/** The rows of a frame, as numbers. */
export interface Rows {
  readonly values: ArrayLike<number>;
  readonly width: number;
  /** Range of the rows of each image: [first, count]. */
  readonly images: readonly (readonly [first: number, count: number])[];
}

/** Largest image index that a column may contain. */
const MOST_IMAGES = 4096;

/** Returns why rows contradict a column order, else `null`. Ignores NaN: the decoder drops such rows. */
export function whyNotOrder(
  { image, box, score, classId }: RowOrder,
  values: ArrayLike<number>,
  count: number,
  labels: ArrayLike<number> | null,
  classes: number | null,
): string | null {
  // Keypoints may follow the columns of the order.
  const width = values.length / count;
  let swapped = 0;
  let seen = 0;
  for (let i = 0, at = 0; i < count; i++, at += width) {
    const id = labels ? labels[i] : values[at + (classId as number)];
    const s = values[at + score];
    const of = image === null ? 0 : values[at + image];
    if (isFraction(of) || !(of === -1 || (of >= 0 && of < MOST_IMAGES))) return `image ${of} in row ${i}`;
    if (of < 0 || id === -1) continue;
    if (isFraction(id) || id < 0) return `class ${id} in row ${i}`;
    if (classes !== null && id >= classes && s > 0) return `class ${id} of ${classes} in row ${i}`;
    // Accept -1, the padding of super-gradients. `#regroup` of finished.ts drops such rows.
    if (s > 1 + SLACK || (s < -SLACK && s !== -1)) return `score ${s} in row ${i}`;
    if (s > 0) {
      seen++;
      if (values[at + box + 2] < values[at + box] || values[at + box + 3] < values[at + box + 1]) swapped++;
    }
  }
  return swapped * 2 > seen ? `${swapped} of ${seen} boxes turned around` : null;
}

/** True for a finite number with a fraction. */
const isFraction = (x: number): boolean => Number.isFinite(x) && !Number.isInteger(x);

/** True if all columns after the box are probabilities, as in raw cells. */
export function areScores(values: ArrayLike<number>, width: number): boolean {
  for (let i = 0; i < values.length; i++)
    if (i % width > 3 && (values[i] < -SLACK || values[i] > 1 + SLACK)) return false;
  return true;
}

/** True if at least one row is not padding under one of the orders. */
export const hasDetections = (
  names: readonly RowOrderName[],
  values: ArrayLike<number>,
  count: number,
): boolean =>
  names.some((name) => {
    const { score, image } = rowOrder(name);
    const width = values.length / count;
    for (let i = 0; i < count; i++)
      if (values[i * width + score] > 0 && (image === null || values[i * width + image] >= 0)) return true;
    return false;
  });

/** Returns the ranges of the rows if each image has `count` rows. */
export const equalRanges = (images: number, count: number): Rows["images"] =>
  Array.from({ length: images }, (_, i) => [i * count, count] as const);

/** Joins mmdeploy's rows with the class ids of another tensor. Keypoints after the score stay last. */
export function withLabels(
  values: ArrayLike<number>,
  labels: ArrayLike<number>,
  {
    batch,
    columns,
    isRotated,
  }: { readonly batch: number; readonly columns: number; readonly isRotated: boolean },
): Rows {
  const width = columns + 1;
  const joined = new Float32Array(labels.length * width);
  for (let i = 0; i < labels.length; i++) {
    const from = i * columns;
    const to = i * width;
    for (let c = 0; c < 4; c++) joined[to + c] = values[from + c];
    joined[to + 4] = values[from + (isRotated ? 5 : 4)];
    joined[to + 5] = labels[i];
    if (isRotated) joined[to + 6] = values[from + 4];
    else for (let c = 5; c < columns; c++) joined[to + c + 1] = values[from + c];
  }
  return { values: joined, width, images: equalRanges(batch, labels.length / batch) };
}

/** Groups rows by the column with the image index. */
export function byImage(
  spec: TensorSpec,
  values: ArrayLike<number>,
  width: number,
  image: number,
  images: number | null,
): Rows {
  const groups: number[][] = Array.from({ length: images ?? 1 }, () => []);
  for (let i = 0; i < values.length; i += width) {
    const index = values[i + image];
    if (index < 0) continue;
    if (images !== null && index >= images)
      refuse(shape(spec), `a row of image ${index}`, `images 0..${images - 1}, as many as there are frames`);
    while (groups.length <= index) groups.push([]);
    groups[index].push(i / width);
  }
  const order = groups.flat();
  const sorted = new Float32Array(order.length * width);
  order.forEach((row, i) => {
    for (let c = 0; c < width; c++) sorted[i * width + c] = values[row * width + c];
  });
  let first = 0;
  const places = groups.map(({ length }) => [(first += length) - length, length] as const);
  return { values: sorted, width, images: places };
}
