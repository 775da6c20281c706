/** Builds prior boxes for families whose networks all have the same priors, so that no config has to list them. */

/** A feature map with prior boxes: its stride in pixels, and the normalised sizes of the boxes in each cell. */
export type Layer = readonly [stride: number, sizes: readonly (readonly [number, number])[]];

/**
 * The cells of a feature map, and the normalised sizes of the boxes in each. The functions return the normalised centre
 * of a column or a row.
 */
interface Cells {
  readonly w: number;
  readonly h: number;
  readonly centreX: (x: number) => number;
  readonly centreY: (y: number) => number;
  readonly sizes: readonly (readonly [number, number])[];
}

/** Returns the prior boxes of some feature maps as rows cx cy w h, cell by cell. */
function boxesOf(maps: readonly Cells[]): Float32Array {
  // Count the boxes first: a list that grows to EfficientDet's 196,416 numbers would take milliseconds.
  const out = new Float32Array(4 * maps.reduce((sum, { w, h, sizes }) => sum + w * h * sizes.length, 0));
  let at = 0;
  for (const { w, h, centreX, centreY, sizes } of maps)
    for (let y = 0; y < h; y++)
      for (let x = 0; x < w; x++)
        for (const [width, height] of sizes) {
          out[at++] = centreX(x);
          out[at++] = centreY(y);
          out[at++] = width;
          out[at++] = height;
        }
  return out;
}

/**
 * Returns the priors of feature maps as rows cx cy w h. Cells divide the input evenly: with stride 64, 240 pixels
 * become 4 cells of 60 pixels.
 */
export const grid = (
  inputSize: readonly [number, number],
  layers: readonly Layer[],
  offset = 0.5,
): Float32Array =>
  boxesOf(
    layers.map(([stride, sizes]) => {
      const [w, h] = inputSize.map((n) => Math.ceil(n / stride));
      return { w, h, centreX: (x) => (x + offset) / w, centreY: (y) => (y + offset) / h, sizes };
    }),
  );

/** Returns a feature map with `count` anchors per cell, each as large as the image. */
const whole = (stride: number, count: number): Layer => [stride, Array<[1, 1]>(count).fill([1, 1])];

/** Returns the anchors of BlazeFace at 128x128, 192x192 or 256x256; see `blazefaceAnchors`. */
export function blazeface(inputSize: readonly [number, number]): Float32Array {
  // A cell has two anchors per layer of the network, or one in the full-range model, whose input is 192 wide.
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

/** Returns MediaPipe's palm anchors, each as large as the image. Strides: 8, 16, and 32 at 256x256. */
export function palm(inputSize: readonly [number, number]): Float32Array {
  const layers = inputSize[0] === 256 ? [whole(16, 2), whole(32, 6)] : [whole(16, 6)];
  return grid(inputSize, [whole(8, 2), ...layers]);
}

/** Returns the anchors of MediaPipe's detection of persons, at strides 8, 16 and 32: pose_detection_cpu.pbtxt. */
export function person(inputSize: readonly [number, number]): Float32Array {
  return grid(inputSize, [whole(8, 2), whole(16, 2), whole(32, 6)]);
}

type Squares = readonly (readonly [stride: number, sizes: readonly number[]])[];

/**
 * Returns square priors at the centres of cells, as cx cy w h. `cells` rounds the cell count: Math.ceil keeps a last
 * cell that the input's edge cuts off.
 */
const squares = (
  [width, height]: readonly [number, number],
  layers: Squares,
  cells: (strides: number) => number,
): Float32Array =>
  boxesOf(
    layers.map(([stride, sizes]) => ({
      w: cells(width / stride),
      h: cells(height / stride),
      centreX: (x) => ((x + 0.5) * stride) / width,
      centreY: (y) => ((y + 0.5) * stride) / height,
      sizes: sizes.map((size): [number, number] => [size / width, size / height]),
    })),
  );

const YUNET_2022: Squares = [
  [8, [10, 16, 24]],
  [16, [32, 48]],
  [32, [64, 96]],
  [64, [128, 192, 256]],
];

/** Returns the priors of YuNet of 2022. Its maps have only complete cells: at stride 64, 96 pixels have one cell. */
export const yunetPriors = (inputSize: readonly [number, number]): Float32Array =>
  squares(inputSize, YUNET_2022, Math.floor);

const RETINAFACE: Squares = [
  [8, [16, 32]],
  [16, [64, 128]],
  [32, [256, 512]],
];

/** Returns the priors of RetinaFace: biubug6/Pytorch_Retinaface, prior_box.py. */
export const retinaface = (inputSize: readonly [number, number]): Float32Array =>
  squares(inputSize, RETINAFACE, Math.ceil);

/** Settings of EfficientDet's priors that differ between its models. */
export interface EfficientdetLayout {
  /** Side of the smallest prior in strides. Default 4. EfficientDet-D7 has 5. Lite0 to Lite2 and Lite3x have 3. */
  readonly scale?: number;
  /** Aspect ratios (width / height) of the priors of each size, in order. Default 1, 2, 0.5. */
  readonly aspectRatios?: readonly number[];
  /** Count of levels, beginning with stride 8. Default 5; EfficientDet-D7x has 6. */
  readonly levels?: number;
}

/** Returns the priors of EfficientDet; see `efficientdetPriors`. */
export function efficientdet(
  inputSize: readonly [number, number],
  { scale = 4, aspectRatios = [1, 2, 0.5], levels = 5 }: EfficientdetLayout = {},
): Float32Array {
  const layers = Array.from({ length: levels }, (_, level): Layer => {
    const stride = 8 << level;
    // Cells divide the input evenly, whatever the nominal stride is: with stride 128, 320 pixels become 3 cells of
    // 106.7.
    const [w, h] = inputSize.map((n) => Math.ceil(n / stride));
    const sizes = [0, 1, 2].flatMap((octave) =>
      aspectRatios.map((ratio): [number, number] => {
        const side = scale * 2 ** (octave / 3);
        return [(side * Math.sqrt(ratio)) / w, side / Math.sqrt(ratio) / h];
      }),
    );
    return [stride, sizes];
  });
  return grid(inputSize, layers);
}
