/** The interface of a detector. */
import type { Crop } from "../core/crop.ts";
import type { Decoder } from "../decode/decoder.ts";
import type { Detections } from "../decode/detections.ts";
import type { DetectorImage } from "./image.ts";
import type { DetectorFrames } from "./iterate.ts";

/** Milliseconds of each step for the last image. */
export interface Timings {
  readonly prepare: number;
  readonly run: number;
  readonly decode: number;
}

/** Finds objects in images. Made by `createDetector`. */
export interface Detector {
  /** The decoder: its config, its thresholds (`update`), and its interpretation of each tensor (`describe`). */
  readonly decoder: Decoder;
  /** The decoder of the second network, which finds keypoints. Absent if there is no second network. */
  readonly points?: Decoder;
  /** Milliseconds of each step for the last image, updated in place. In a stream the steps overlap. */
  readonly timings: Timings;
  /**
   * Finds the objects of one image. Coordinates are 0..1 of the image's width and height. Each result is a new object,
   * unless the option `reuse` is set.
   * @param image pixels, `{ data, width, height, format?, channels?, stride? }` such as `ImageData`; something that a
   * canvas can draw; or the file of a photo, as its bytes or a `Blob`
   * @param options `crop`: the part of the image that the network gets, in place of the whole image
   * @throws TensorError if the outputs do not fit the config, or another call has not ended. The runtime's own errors
   * pass through
   */
  detect(image: DetectorImage, options?: { readonly crop?: Crop }): Promise<Detections>;
  /**
   * Finds the objects of each image of a stream, in order. If the runtime does not block the thread, frame n-1 is
   * decoded and frame n+1 is prepared while frame n runs. With the option `reuse`, the next result overwrites the last
   * one.
   * @param frames any iterable: a list, a generator, a stream; or a playing `<video>`
   * @param options `signal`: if it aborts, the loop ends after the current frame and throws the signal's reason
   * @throws as `detect`
   */
  detectAll(
    frames: DetectorFrames,
    options?: { readonly signal?: AbortSignal },
  ): AsyncGenerator<Detections, void, undefined>;
  /** Frees the network after the running call. Ends a `detectAll` loop after its current frame. Refuses later calls. */
  close(): Promise<void>;
}
