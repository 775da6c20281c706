/** Types of a detection's mask and its options. */

/**
 * Order of the steps of a mask: product of coefficients and prototypes, resize, crop by the box. Rules that begin with
 * "sigmoid" resize probabilities. The others resize logits.
 */
export type PrototypeRule =
  | "proto"
  | "input"
  | "input_crop_first"
  | "image"
  | "sigmoid_input"
  | "sigmoid_input_crop_first"
  | "sigmoid_image";

/** Rule of a mask: a `PrototypeRule`, or "torchvision" and "detectron2" for small masks of Mask R-CNN. */
export type MaskRule = PrototypeRule | "torchvision" | "detectron2";

/** Size, rule and threshold of a mask. */
export interface MaskOptions {
  /**
   * Picture that the mask covers: the prototypes, the network's input, the image of the frame, or that image resized to
   * [width, height]. Default: "frame" if `decode` got a frame, else "network".
   */
  readonly size?: "prototype" | "network" | "frame" | readonly [width: number, height: number];
  /**
   * Default: "proto" at the size of the prototypes, "input" at the size of the network's input, "image" at other sizes,
   * and "torchvision" for Mask R-CNN. Masks of RF-DETR are cropped by the box only if a rule is stated.
   */
  readonly rule?: MaskRule;
  /** A pixel is set if its probability is larger than this value. Default 0.5. */
  readonly threshold?: number;
}

/** Mask as run lengths, in COCO's format. */
export interface MaskRle {
  /** Height and width of the picture. */
  readonly size: readonly [height: number, width: number];
  /** Run lengths, column by column, zeros first, as the text that pycocotools writes. */
  readonly counts: string;
}

/** One connected part of a mask. Rings list x, y in pixels of the picture, and follow the edges of pixels. */
export interface MaskPolygon {
  readonly outer: readonly number[];
  readonly holes: readonly (readonly number[])[];
}

/** The pixels of a mask inside its box: one byte each, 0 or 1. */
export interface Mask {
  /** Left edge of the box in the picture, in pixels. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  /** Width and height of the whole picture. */
  readonly size: readonly [width: number, height: number];
  /** Count of set pixels. */
  readonly area: number;
  /** Returns the mask of the whole picture as run lengths, in COCO's format. */
  toRle(): MaskRle;
  /** Returns the outlines of the parts along the edges of pixels. Pixels that share only a corner are not connected. */
  toPolygons(): MaskPolygon[];
  /** Returns `data` packed as bits, as by `numpy.packbits`: the first of 8 pixels is the highest bit of a byte. */
  toBits(): Uint8Array;
}
