/** Prior boxes that need no statement: every network of the family has the same. */

/** A layer: its stride in pixels, and the sizes of the boxes of each cell, normalised. */
export type Layer = readonly [stride: number, sizes: readonly (readonly [number, number])[]];

/**
 * Returns rows cx cy w h. A centre is a part of the map's cells, not of its stride: a last row of cells that the input
 * cuts off (240 / 64) counts in full.
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

/** Returns the anchors of BlazeFace at 128x128, 192x192 or 256x256; see `blazefaceAnchors`. */
export function blazeface(inputSize: readonly [number, number]): Float32Array {
  // Every anchor is as large as the image. A cell has two per layer, but one in the full range model.
  const whole = (stride: number, count: number): Layer => [stride, Array<[1, 1]>(count).fill([1, 1])];
  const [width] = inputSize;
  return grid(inputSize, width === 192 ? [whole(4, 1)] : [whole(width / 16, 2), whole(width / 8, 6)]);
}

/** Returns the priors of UltraFace; see `ultrafacePriors`. */
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
