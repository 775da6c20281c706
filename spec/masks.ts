/**
 * Masks in plain doubles. Each rule makes the whole picture, one step after the other. Sources: the published decoders
 * that docs/masks.md lists. Pictures are rows of numbers.
 */
import type { Box } from "./boxes.ts";
import { placeInInput } from "./frame.ts";

export type Picture = readonly (readonly number[])[];

/** Returns the logit of each prototype pixel. `prototypes`: one picture for each coefficient. */
export const logitsOf = (prototypes: readonly Picture[], coefficients: readonly number[]): Picture =>
  prototypes[0].map((row, y) =>
    row.map((_, x) => coefficients.reduce((sum, c, m) => sum + c * prototypes[m][y][x], 0)),
  );

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

export const each = (picture: Picture, f: (value: number) => number): Picture =>
  picture.map((row) => row.map(f));

/**
 * Keeps the values in columns x with x1 <= x < x2, and rows likewise. The edges are not rounded. All other values
 * become 0.
 */
export const crop = (picture: Picture, [x1, y1, x2, y2]: Box): Picture =>
  picture.map((row, y) => row.map((v, x) => (x >= x1 && x < x2 && y >= y1 && y < y2 ? v : 0)));

/**
 * Resizes n pixels to N bilinearly, as align_corners false does: source = (i + 0.5) * n / N - 0.5, not below 0. The
 * last pixel is repeated.
 */
export function bilinear(picture: Picture, width: number, height: number): Picture {
  const place = (i: number, n: number, size: number): readonly [number, number, number] => {
    const source = Math.max(0, ((i + 0.5) * n) / size - 0.5);
    const first = Math.min(Math.floor(source), n - 1);
    return [first, Math.min(first + 1, n - 1), source - first];
  };
  return Array.from({ length: height }, (_, y) => {
    const [y0, y1, b] = place(y, picture.length, height);
    return Array.from({ length: width }, (__, x) => {
      const [x0, x1, a] = place(x, picture[0].length, width);
      const upper = picture[y0][x0] * (1 - a) + picture[y0][x1] * a;
      const lower = picture[y1][x0] * (1 - a) + picture[y1][x1] * a;
      return upper * (1 - b) + lower * b;
    });
  });
}

/** Resizes n pixels to N as cv2.resize with INTER_NEAREST does: source = floor(i * n / N). */
export const nearest = (picture: Picture, width: number, height: number): Picture =>
  Array.from({ length: height }, (_, y) =>
    Array.from(
      { length: width },
      (__, x) =>
        picture[Math.floor((y * picture.length) / height)][Math.floor((x * picture[0].length) / width)],
    ),
  );

/** Cuts the padding of a centred letterbox off the prototypes, as Ultralytics does. */
export function cutPadding(picture: Picture, imageWidth: number, imageHeight: number): Picture {
  const [height, width] = [picture.length, picture[0].length];
  const frame = { width: imageWidth, height: imageHeight, resize: "letterbox" } as const;
  const [left, top, columns, rows] = placeInInput(frame, [width, height]);
  return picture.slice(top, top + rows).map((row) => row.slice(left, left + columns));
}

const scaled = ([x1, y1, x2, y2]: Box, width: number, height: number): Box => [
  x1 * width,
  y1 * height,
  x2 * width,
  y2 * height,
];

/** The data that a rule needs. Boxes are normalised: `inputBox` to the network's input, `imageBox` to the image. */
export interface MaskCase {
  readonly prototypes: readonly Picture[];
  readonly coefficients: readonly number[];
  readonly inputBox: Box;
  readonly imageBox: Box;
  /** Size of the picture to make. */
  readonly size: readonly [width: number, height: number];
  /** Size of the image, if it was letterboxed. */
  readonly image?: readonly [width: number, height: number];
}

/**
 * Values of each rule before the comparison: a pixel is set if its logit is above 0, or if its probability is above
 * 0.5.
 */
export const MASK_RULES: { readonly [rule: string]: (c: MaskCase) => Picture } = {
  proto({ prototypes, coefficients, inputBox, size, image }) {
    const logits = logitsOf(prototypes, coefficients);
    const mask = each(logits, (v) => (v > 0 ? 1 : 0));
    const cropped = crop(mask, scaled(inputBox, logits[0].length, logits.length));
    return nearest(image ? cutPadding(cropped, ...image) : cropped, ...size);
  },
  input: ({ prototypes, coefficients, inputBox, size }) =>
    crop(bilinear(logitsOf(prototypes, coefficients), ...size), scaled(inputBox, ...size)),
  input_crop_first({ prototypes, coefficients, inputBox, size }) {
    const logits = logitsOf(prototypes, coefficients);
    return bilinear(crop(logits, scaled(inputBox, logits[0].length, logits.length)), ...size);
  },
  image({ prototypes, coefficients, imageBox, size, image }) {
    const logits = logitsOf(prototypes, coefficients);
    const cut = image ? cutPadding(logits, ...image) : logits;
    return crop(bilinear(cut, ...size), scaled(imageBox, ...size));
  },
  sigmoid_input: ({ prototypes, coefficients, inputBox, size }) =>
    crop(bilinear(each(logitsOf(prototypes, coefficients), sigmoid), ...size), scaled(inputBox, ...size)),
  sigmoid_input_crop_first({ prototypes, coefficients, inputBox, size }) {
    const probabilities = each(logitsOf(prototypes, coefficients), sigmoid);
    return bilinear(
      crop(probabilities, scaled(inputBox, probabilities[0].length, probabilities.length)),
      ...size,
    );
  },
  sigmoid_image({ prototypes, coefficients, imageBox, size, image }) {
    const probabilities = each(logitsOf(prototypes, coefficients), sigmoid);
    const cut = image ? cutPadding(probabilities, ...image) : probabilities;
    return crop(bilinear(cut, ...size), scaled(imageBox, ...size));
  },
};

/**
 * Returns the logits of a query's own map, resized directly to the photo's size. The box does not cut them. A pixel is
 * set if its logit is above 0. Source: PostProcess of rf-detr, models/postprocess.py.
 */
export const maskOfQuery = (
  map: Picture,
  size: readonly [width: number, height: number],
  image?: readonly [width: number, height: number],
): Picture => bilinear(image ? cutPadding(map, ...image) : map, ...size);

/** Returns a picture with a margin of one zero. */
const padded = (picture: Picture): Picture => {
  const clear = Array<number>(picture[0].length + 2).fill(0);
  return [clear, ...picture.map((row) => [0, ...row, 0]), clear];
};

/**
 * Pastes a mask of Mask R-CNN into its box, which is in pixels: `paste_masks_in_image` of
 * torchvision/models/detection/roi_heads.py. A pixel is set if its value is above 0.5.
 */
export function pasteOfTorchvision(
  mask: Picture,
  [x1, y1, x2, y2]: Box,
  width: number,
  height: number,
): Picture {
  const grown = (low: number, high: number, cells: number): readonly [number, number] => {
    const half = ((high - low) / 2) * ((cells + 2) / cells);
    return [Math.trunc((low + high) / 2 - half), Math.trunc((low + high) / 2 + half)];
  };
  const [left, right] = grown(x1, x2, mask[0].length);
  const [top, bottom] = grown(y1, y2, mask.length);
  const resized = bilinear(padded(mask), Math.max(1, right - left + 1), Math.max(1, bottom - top + 1));
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (__, x) => resized[y - top]?.[x - left] ?? 0),
  );
}

/**
 * Pastes the same mask as `_do_paste_mask` of detectron2/layers/mask_ops.py does. A pixel is set if its value is 0.5 or
 * more.
 */
export function pasteOfDetectron(
  mask: Picture,
  [x1, y1, x2, y2]: Box,
  width: number,
  height: number,
): Picture {
  const at = (column: number, row: number): number => mask[row]?.[column] ?? 0;
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (__, x) => {
      const u = ((x + 0.5 - x1) / (x2 - x1)) * mask[0].length - 0.5;
      const v = ((y + 0.5 - y1) / (y2 - y1)) * mask.length - 0.5;
      const [column, row] = [Math.floor(u), Math.floor(v)];
      const [a, b] = [u - column, v - row];
      const upper = at(column, row) * (1 - a) + at(column + 1, row) * a;
      const lower = at(column, row + 1) * (1 - a) + at(column + 1, row + 1) * a;
      return upper * (1 - b) + lower * b;
    }),
  );
}
