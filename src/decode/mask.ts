/** The mask of a detection, and what a caller says about it. */

/**
 * Names the order of the steps that make a mask: product of coefficients and prototypes, resizing, crop by the box. In
 * those that begin with "sigmoid" probabilities are resized, in the others logits.
 */
export type PrototypeRule =
  | "proto"
  | "input"
  | "input_crop_first"
  | "image"
  | "sigmoid_input"
  | "sigmoid_input_crop_first"
  | "sigmoid_image";

/**
 * Names the rule of a mask: that of masks made of prototypes, or how a small mask of Mask R-CNN is pasted into its box,
 * "torchvision" or "detectron2".
 */
export type MaskRule = PrototypeRule | "torchvision" | "detectron2";

/** Size, rule and threshold of a mask. */
export interface MaskOptions {
  /**
   * The picture that the mask is a part of: the prototypes, the network's input, the image of the frame, or a picture
   * of the image in that size. Default: "frame" if `decode` got a frame, else "network".
   */
  readonly size?: "prototype" | "network" | "frame" | readonly [width: number, height: number];
  /**
   * Default: "proto" at the prototypes' size, "input" at that of the network, "image" at others; of Mask R-CNN
   * "torchvision". Masks of RF-DETR are cut by the box only where a rule is stated.
   */
  readonly rule?: MaskRule;
  /** A pixel is set if its probability is greater. Default 0.5. */
  readonly threshold?: number;
}

/** Runs of a mask in COCO's format. */
export interface MaskRle {
  /** Height and width of the picture. */
  readonly size: readonly [height: number, width: number];
  /** Run lengths, column by column, zeros first, as the text that pycocotools writes. */
  readonly counts: string;
}

/** One part of a mask. Rings are x, y, x, y, ... of corners between pixels, in pixels of the picture. */
export interface MaskPolygon {
  readonly outer: readonly number[];
  readonly holes: readonly (readonly number[])[];
}

/** The part of a mask inside its box: one byte a pixel, 0 or 1. */
export interface Mask {
  /** Left upper corner in a picture of the size that was asked for, in pixels. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  /** Width and height of the whole picture. */
  readonly size: readonly [width: number, height: number];
  /** Number of pixels that are set. */
  readonly area: number;
  /** Returns the mask as runs of the whole picture, in COCO's format. */
  toRle(): MaskRle;
  /** Returns the outlines of the parts along the edges of pixels. Pixels that touch at a corner are two parts. */
  toPolygons(): MaskPolygon[];
  /** Returns eight pixels a byte, the first in the highest bit, as `numpy.packbits` packs `data`. */
  toBits(): Uint8Array;
}
