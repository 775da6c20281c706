/** Prior boxes that need no statement: every network of the family has the same. */

/** A layer: its stride in pixels, and the sizes of the boxes of each cell, normalised. */
export type Layer = readonly [stride: number, sizes: readonly (readonly [number, number])[]];

/**
 * Rows of centre and size; a centre goes by the cells of the map, not by its stride: 240 / 64 leaves a last row that is
 * cut off.
 */
export function grid(
  inputSize: readonly [number, number],
  layers: readonly Layer[],
  offset = 0.5,
): Float32Array {
  const out: number[] = [];
  for (const [stride, sizes] of layers) {
    const [w, h] = inputSize.map((n) => Math.ceil(n / stride));
    for (let y = 0; y < h; y++) {
      for (let x = 0; x < w; x++) {
        for (const size of sizes) out.push((x + offset) / w, (y + offset) / h, ...size);
      }
    }
  }
  return Float32Array.from(out);
}

/** Anchors of BlazeFace at 128x128, 192x192 and 256x256: see `blazefaceAnchors`. */
export function blazeface(inputSize: readonly [number, number]): Float32Array {
  // as large as the image all of them: two for each layer of a cell, but one in the full range
  const whole = (stride: number, count: number): Layer => [stride, Array<[1, 1]>(count).fill([1, 1])];
  const [width] = inputSize;
  return grid(inputSize, width === 192 ? [whole(4, 1)] : [whole(width / 16, 2), whole(width / 8, 6)]);
}

/** Priors of UltraFace: see `ultrafacePriors`. */
export function ultraface(inputSize: readonly [number, number]): Float32Array {
  const sizes = [
    [10, 16, 24],
    [32, 48],
    [64, 96],
    [128, 192, 256],
  ];
  const [w, h] = inputSize;
  return grid(
    inputSize,
    sizes.map((all, k) => [8 << k, all.map((s) => [Math.min(1, s / w), Math.min(1, s / h)])]),
  );
}
