/** Form in which a network expects its picture: the rule that `prepare` follows. */
/**
 * Method of resizing the picture to the input size.
 * - `letterbox`: both sides are scaled by the same factor, the picture is centred, and the rest is padded
 * - `letterbox-topleft`: the same, but the picture is in the upper left corner
 * - `stretch`: each side is scaled by its own factor
 * - `crop`: both sides are scaled by the same factor until the picture fills the input, and the surplus is cut off
 */
export type PrepareResize = "letterbox" | "letterbox-topleft" | "stretch" | "crop";

/**
 * Method of resampling pixels. Each name stands for the function of another program. The results have the same bytes.
 * - `bilinear`: `cv2.resize` with INTER_LINEAR
 * - `area`: `cv2.resize` with INTER_AREA
 * - `nearest`: `cv2.resize` with INTER_NEAREST
 * - `pillow`: `Image.resize` of Pillow with BILINEAR, which averages when it makes pictures smaller
 * - `cubic`: `cv2.resize` with INTER_CUBIC, a = -0.75. OpenCV adds rows in another order, so about three bytes in a
 *   million differ by 1
 */
export type Resample = "bilinear" | "area" | "nearest" | "pillow" | "cubic";

/**
 * Rule that turns a picture into an input tensor. Channels of the picture are bytes, 0..255. A value of the tensor is
 * (channel - mean) / std, or (channel - mean) * factor, in f32.
 */
export interface PrepareRule {
  /** [width, height] of the network input in pixels. */
  readonly size: readonly [number, number];
  /** Default "letterbox". */
  readonly resize?: PrepareResize;
  /**
   * Value of the padding, 0..255, before normalisation. One number, or one for each channel of the tensor. May be a
   * fraction, such as a mean. Default 114.
   */
  readonly pad?: number | readonly number[];
  /** Pixels by which a letterboxed picture is smaller than the input: with 4, it fits into 636 of 640. Default 0. */
  readonly margin?: number;
  /** Content of the parts of a crop outside the image: `pad`, or the nearest pixel of the edge. Default "pad". */
  readonly border?: "pad" | "edge";
  /**
   * True if the centres of the input's first and last pixels lie on the edges of a crop, as in networks that were
   * trained with UDP. Default false: the corner of the first pixel lies on the corner of the crop.
   */
  readonly udp?: boolean;
  /** Default "bilinear". */
  readonly resample?: Resample;
  /** Default "NCHW". */
  readonly layout?: "NCHW" | "NHWC";
  /** Element type. Default "f32". */
  readonly type?: "f32" | "f16" | "u8" | "i8";
  /**
   * Order of the tensor's channels. "GRAY": one channel, 0.299 R + 0.587 G + 0.114 B, rounded to a byte as by
   * `cv2.cvtColor`. Default "RGB", or "GRAY" for a model file or a runtime whose input has one channel.
   */
  readonly order?: "RGB" | "BGR" | "GRAY";
  /** One value, or one for each channel of the tensor. Default 0. */
  readonly mean?: number | readonly number[];
  /** Divisor: one value, or one for each channel of the tensor. Default 255, or 1 for "u8" without a scale. */
  readonly std?: number | readonly number[];
  /** Factor that replaces the division by `std`. */
  readonly factor?: number;
  /** Scale of quantised inputs, "u8" and "i8": element = value / scale + zeroPoint, clamped. Default 1. */
  readonly scale?: number;
  /** Default 0. */
  readonly zeroPoint?: number;
}

/** The fields of a rule that one source, such as a file or an option, states. */
export type PartialRule = Partial<PrepareRule>;
