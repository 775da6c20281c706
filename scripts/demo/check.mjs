/** Compares detections with recorded ones. Each problem is one sentence. */
const CORNERS = ["x_min", "y_min", "x_max", "y_max"];

/**
 * Returns the problems of detections that should equal the recorded ones, in the same order.
 * @param found detections; `recorded` has the same fields, with keypoints as lists of x, y and confidence
 * @param tolerance largest difference at which numbers count as equal
 * @param clamp true to clamp both sides' coordinates to 0..1 first
 */
export function compareDetections(found, recorded, { tolerance, clamp = false }) {
  if (found.length !== recorded.length)
    return [`got ${found.length} detections, recorded are ${recorded.length}`];
  const kept = clamp ? (v) => Math.min(Math.max(v, 0), 1) : (v) => v;
  return found.flatMap((d, i) => {
    const e = recorded[i];
    const pairs = [
      ["class_id", d.class_id, e.class_id],
      ["confidence", d.confidence, e.confidence],
      ...CORNERS.map((key) => [key, kept(d[key]), kept(e[key])]),
      ...(e.keypoints ?? []).flatMap((point, k) => pointPairs(d.keypoints?.[k], point, k)),
    ];
    const count = e.keypoints?.length ?? 0;
    const short = (d.keypoints?.length ?? 0) === count ? [] : [`row ${i}: ${count} keypoints are recorded`];
    return [...short, ...compareNumbers(`row ${i}`, pairs, tolerance)];
  });
}

function pointPairs(point, [x, y, confidence], k) {
  const pairs = [
    [`x of point ${k}`, point?.x, x],
    [`y of point ${k}`, point?.y, y],
  ];
  return confidence === undefined
    ? pairs
    : [...pairs, [`confidence of point ${k}`, point?.confidence, confidence]];
}

/** Returns a problem for each [name, got, recorded] that differs by more than the tolerance. */
export const compareNumbers = (where, pairs, tolerance) =>
  pairs
    .filter(([, got, recorded]) => !(Math.abs(got - recorded) <= tolerance))
    .map(([name, got, recorded]) => `${where}: ${name} is ${got}, recorded is ${recorded}`);

/**
 * Returns the count of pixels in which a mask differs from recorded runs.
 * @param rle run lengths of the whole picture, row by row, zeros first
 */
export function differingPixels({ x, y, width, height, data, size: [wide, high] }, rle) {
  const whole = new Uint8Array(wide * high);
  for (let row = 0; row < height; row++)
    whole.set(data.subarray(row * width, (row + 1) * width), (y + row) * wide + x);
  let at = 0;
  let differing = 0;
  rle.forEach((length, i) => {
    for (const end = at + length; at < end; at++) if (whole[at] !== i % 2) differing++;
  });
  return differing + Math.abs(whole.length - at);
}
