/** Arguments and results of `decoder.prepare`, and the interface of its task. */
import type { Crop } from "../core/crop.ts";
import type { QuarterTurns } from "../core/turn.ts";
import type { EngineName } from "../core/engine-name.ts";
import type { PartialRule, PrepareRule } from "../core/prepare-rule.ts";
import type { Config } from "../config/types.ts";
import type { Frame } from "./frame.ts";

/** Pixel format of an image's bytes. "nv12", "i420" and "yuyv" are BT.601 in video range, as OpenCV's. */
export type ImageFormat = "rgba" | "bgra" | "rgb" | "bgr" | "gray" | "nv12" | "i420" | "yuyv";

/** An image as bytes, row by row. An `ImageData` may be passed unchanged. */
export interface ImageInput {
  /** The bytes. The planes of "nv12" and "i420" follow each other without gaps. */
  readonly data: Uint8Array | Uint8ClampedArray;
  /** Width in pixels. */
  readonly width: number;
  /** Height in pixels. */
  readonly height: number;
  /** Default: the format that `channels` names, else "rgba". Alpha is ignored. "raw" (of sharp) counts as absent. */
  readonly format?: ImageFormat | "raw";
  /** Bytes per pixel: 1 is gray, 3 rgb, 4 rgba. Any `format` except "raw" overrides it. */
  readonly channels?: number;
  /** Bytes from one row to the next. Default: no gaps. Chroma rows of "i420" have half as many, rounded up. */
  readonly stride?: number;
  /**
   * Quarter turns clockwise that bring the picture upright. Default 0. The picture is turned before it is resized. The
   * frame has the same `rotation`, and results refer to the picture as it was passed.
   */
  readonly rotation?: QuarterTurns;
}

/** Array for the elements of an input tensor. f16 is written as bits. */
export type PreparedData = Float32Array | Uint16Array | Uint8Array | Int8Array;

/** Options of `prepareImage` and of `decoder.prepare`. */
export interface PrepareOptions {
  /** Engine. Default "auto": the fastest engine that runs here. */
  readonly engine?: EngineName | "auto";
  /** Array to write to, such as the memory of a runtime's input tensor. Default: a new array. */
  readonly into?: PreparedData;
  /**
   * Part of the image that becomes the input, rotated by its angle. Default: the whole image, by `resize`. Pixels are
   * resampled bilinearly, as `cv2.warpAffine` does.
   */
  readonly crop?: Crop;
}

/**
 * An input tensor that only `prepareImage` writes, and that the runtime only reads. For a stream, `prepareImage` moves
 * the tensor into the kernel's memory, where the kernel writes it without a copy.
 */
export interface OwnInput {
  /** The tensor's array. It is replaced when the tensor moves. */
  data: PreparedData;
  /** Workspace that wrote the tensor's padding, so that a stream is padded once. `null`: no padding is written yet. */
  padding: object | null;
}

/** Every `OwnInput` by its `data`. */
export const OWN_INPUTS = /* @__PURE__ */ new WeakMap<object, OwnInput>();

/**
 * Memory for frames of a video reader, which no other code writes. `prepareImage` moves it into the kernel's memory,
 * which saves a copy of each later frame.
 */
export interface FrameMemory {
  /** Bytes of a frame. The next frame of the same size and format is written here too. */
  bytes: Uint8Array;
  /** Rule and workspace of the last frame, stored by `prepareImage`. `null` before the first. */
  kept: object | null;
}

/** Every `FrameMemory` by its `bytes`. */
export const FRAME_MEMORIES = /* @__PURE__ */ new WeakMap<object, FrameMemory>();

/** An input tensor, and the frame that converts its boxes back to the image. */
export interface Prepared {
  readonly tensor: {
    /** Elements of the tensor: `into` if the caller passed it. */
    readonly data: PreparedData;
    /** [1, 3, height, width] or [1, height, width, 3]. */
    readonly dims: readonly number[];
    readonly type: "f32" | "f16" | "u8" | "i8";
  };
  /**
   * Frame for `decode`: the image's size, and the rectangle of the resized image in the input. The object is frozen.
   */
  readonly frame: Frame;
}

/** Interface of the task that makes input tensors from images: `decoder.prepare`. */
export interface PrepareTask {
  readonly task: "prepare";
  /** Makes the input tensor from an image, as `prepareImage` of `boxwright` does. */
  prepareImage(image: ImageInput, rule: PrepareRule, options?: PrepareOptions): Prepared;
  /** Returns the preparation for a config's network. `size` is absent if nothing states it. */
  ruleOf(config: Config): PartialRule;
  /** Describes a preparation in words, for messages. */
  ruleText(rule: PartialRule): string;
}
