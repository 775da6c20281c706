/** Returns the IoU of corners at `i` of `a` and `j` of `b`, with `offset` added to all sides; 0 if empty. */
export function iou(a: Float64Array, i: number, b: Float64Array, j: number, offset: number): number {
  const width = Math.min(a[i + 2], b[j + 2]) - Math.max(a[i], b[j]) + offset;
  if (!(width > 0)) return 0;
  const height = Math.min(a[i + 3], b[j + 3]) - Math.max(a[i + 1], b[j + 1]) + offset;
  if (!(height > 0)) return 0;
  const both = width * height;
  const union =
    (a[i + 2] - a[i] + offset) * (a[i + 3] - a[i + 1] + offset) +
    (b[j + 2] - b[j] + offset) * (b[j + 3] - b[j + 1] + offset) -
    both;
  return union > 0 ? both / union : 0;
}
