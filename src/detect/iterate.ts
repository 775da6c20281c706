/** Opens what `detectAll` iterates over. */
import { TensorError, mismatch, refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { DetectorImage } from "./image.ts";

/** The iterator of a stream of images. */
export interface Images {
  next(): Promise<IteratorResult<DetectorImage, unknown>> | IteratorResult<DetectorImage, unknown>;
  return?(): unknown;
}

/** Returns the iterator of a list, a generator or a stream of images. */
export function iteratorOf(frames: Iterable<DetectorImage> | AsyncIterable<DetectorImage>): Images {
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = (frames ?? {}) as Partial<
    AsyncIterable<DetectorImage> & Iterable<DetectorImage>
  >;
  const open: (() => unknown) | undefined = later ?? now;
  const expected = "something to iterate over: a list, a generator or a stream of images";
  if (typeof open !== "function" || typeof frames === "string")
    return refuse("detectAll", show(frames), expected);
  let source: Partial<Images> | null;
  try {
    source = open.call(frames) as Partial<Images> | null;
  } catch (error) {
    // A stream that somebody reads already.
    throw new TensorError(
      `detectAll: ${mismatch(`${show(frames)} that does not open (${(error as Error).message})`, expected)}`,
      { cause: error },
    );
  }
  if (typeof source?.next !== "function")
    return refuse("detectAll", `${show(frames)} whose iterator has no next()`, expected);
  return source as Images;
}
