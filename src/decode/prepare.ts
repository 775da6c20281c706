/** What `decoder.prepare` takes and returns, and the task that does it. */
import type { Crop } from "../core/crop.ts";
import type { QuarterTurns } from "../core/turn.ts";
import type { EngineName } from "../core/engine-name.ts";
import type { PartialRule, PrepareRule } from "../core/prepare-rule.ts";
import type { Config } from "../config/types.ts";
import type { Frame } from "./frame.ts";

/** How the bytes of an image lie. "nv12", "i420" and "yuyv" are BT.601 in video range, as `cv2.cvtColor` reads them. */
export type ImageFormat = "rgba" | "bgra" | "rgb" | "bgr" | "gray" | "nv12" | "i420" | "yuyv";

/** An image as bytes, row after row. An `ImageData` fits as it is. */
export interface ImageInput {
  /** The planes of "nv12" and "i420" follow each other, without gaps. */
  readonly data: Uint8Array | Uint8ClampedArray;
  /** Width in pixels. */
  readonly width: number;
  /** Height in pixels. */
  readonly height: number;
  /**
   * Default: the format that `channels` means, else "rgba". Alpha is ignored. "raw", which sharp states, counts as no
   * format.
   */
  readonly format?: ImageFormat | "raw";
  /** Bytes of a pixel: 1 is gray, 3 rgb, 4 rgba. Any `format` but "raw" overrides it. */
  readonly channels?: number;
  /** Bytes from one row to the next. Default: no gap. Chroma rows of "i420" have half of it, rounded up. */
  readonly stride?: number;
  /**
   * Quarter turns clockwise that bring the picture upright. Default 0. The picture is turned before it is resized; the
   * frame has the same `rotation`, and results are those of the picture as it was given.
   */
  readonly rotation?: QuarterTurns;
}

/** Memory for the elements of an input tensor. f16 is written as bits. */
export type PreparedData = Float32Array | Uint16Array | Uint8Array | Int8Array;

/** Options of `prepareImage` and of `decoder.prepare`. */
export interface PrepareOptions {
  /** Engine. Default "auto": the fastest that runs here. */
  readonly engine?: EngineName | "auto";
  /** Memory to write to, such as that of a runtime's own input tensor. Default: new memory. */
  readonly into?: PreparedData;
  /**
   * The part of the image that becomes the input, turned by its angle. Default: the whole image, by `resize`.
   * Pixels are resampled as `cv2.warpAffine` does it, bilinearly.
   */
  readonly crop?: Crop;
}

/**
 * An input tensor that nobody but `prepareImage` writes to, and that the runtime only reads. `prepareImage` moves the
 * tensor of a stream into the memory of the kernel, where the kernel writes it.
 */
export interface OwnInput {
  /** The tensor's memory, which changes when the tensor moves. */
  data: PreparedData;
  /** The workspace whose padding the tensor holds: a stream is padded once. `null`: the tensor holds none. */
  padding: object | null;
}

/** All own inputs by their `data`. */
export const OWN_INPUTS = /* @__PURE__ */ new WeakMap<object, OwnInput>();

/**
 * Memory into which a reader of videos copies its frames, and nobody else writes. `prepareImage` moves it into the
 * memory of the kernel, which spares a copy of each further frame.
 */
export interface FrameMemory {
  /** Bytes of a frame. The next frame of the same size and format is written here, too. */
  bytes: Uint8Array;
  /** Rule and workspace of the last frame, which `prepareImage` keeps here. `null`: none yet. */
  kept: object | null;
}

/** Memories of readers whose frames keep their size and format, by their `bytes`. */
export const FRAME_MEMORIES = /* @__PURE__ */ new WeakMap<object, FrameMemory>();

/** An input tensor, and what takes its boxes back to the image. */
export interface Prepared {
  readonly tensor: {
    /** `into` if it was given. */
    readonly data: PreparedData;
    /** [1, 3, height, width] or [1, height, width, 3]. */
    readonly dims: readonly number[];
    readonly type: "f32" | "f16" | "u8" | "i8";
  };
  /** For `decode`: the image's size, and the place that the resized image has in the input. Frozen. */
  readonly frame: Frame;
}

/** The task that makes input tensors of images: `decoder.prepare`. */
export interface PrepareTask {
  readonly task: "prepare";
  /** Makes the input tensor of an image, as `prepareImage` of `boxwright` does. */
  prepareImage(image: ImageInput, rule: PrepareRule, options?: PrepareOptions): Prepared;
  /** Returns how the network of a config wants its picture. `size` is missing where nobody says it. */
  ruleOf(config: Config): PartialRule;
  /** Returns a rule in words. */
  ruleText(rule: PartialRule): string;
}
