/** Implements `detectAll` for every kind of source: opens the source, and runs the detector on its images in order. */
import { TensorError, mismatch, refuse } from "../core/errors.ts";
import { type Rule, checkOptions } from "../core/options.ts";
import { isBytes, show } from "../core/tensor.ts";
import type { Detections } from "../decode/detections.ts";
import { Arrivals, STOPPED } from "./arrivals.ts";
import type { DetectorImage } from "./image.ts";
import type { OneCall } from "./one-call.ts";

/** Iterator over the images of a stream. */
export interface Images {
  next(): Promise<IteratorResult<DetectorImage, unknown>> | IteratorResult<DetectorImage, unknown>;
  return?(): unknown;
}

/** A `<video>` in a browser with `requestVideoFrameCallback`. */
export interface PlayingVideo {
  readonly videoWidth: number;
  readonly videoHeight: number;
  readonly ended: boolean;
  /** Set after the video failed. */
  readonly error?: { readonly message: string } | null;
  /** Calls back when the next frame is shown. */
  requestVideoFrameCallback(callback: () => void): number;
  /** Calls back when the video has ended or failed. */
  addEventListener(name: "ended" | "error", listener: () => void, options: { readonly once: true }): void;
}

/** A source of images for `detectAll`. */
export type DetectorFrames = Iterable<DetectorImage> | AsyncIterable<DetectorImage> | PlayingVideo;

/**
 * Yields the video element once for each shown frame, until the video ends. Skips frames during a detection.
 * @throws TensorError if the video fails
 */
async function* framesOf(video: PlayingVideo): AsyncGenerator<DetectorImage, void, undefined> {
  let wake: () => void = () => undefined;
  for (const name of ["ended", "error"] as const) video.addEventListener(name, () => wake(), { once: true });
  while (!video.ended) {
    if (video.error) refuse("detectAll", `a video that failed (${video.error.message})`, "one that plays");
    await new Promise<void>((resolve) => {
      wake = resolve;
      video.requestVideoFrameCallback(resolve);
    });
    if (!video.ended && !video.error) yield video;
  }
}

const SIGNAL: Rule<AbortSignal> = [
  "the signal of an AbortController",
  (x) => typeof (x as Partial<AbortSignal> | null)?.addEventListener === "function",
];

/** Options of `detectAll`. */
export interface DetectAllOptions {
  /** Ends the loop with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Yields the detections for a stream of images. The whole loop is one call of the detector, so it excludes other calls.
 * Closes the stream at the end.
 * @throws TensorError if the source is not iterable, before the call begins; RangeError for wrong options
 */
export function detectFrames(
  frames: DetectorFrames,
  options: DetectAllOptions | null,
  calls: OneCall,
  detect: Detect,
): AsyncGenerator<Detections, void, undefined> {
  // End the generator by `return` if the caller's loop closes the detector: the generator is then paused at a yield.
  const end = (): void => void stream.return();
  const stream = detectUntil(end, frames, options, calls, detect);
  return stream;
}

/** Function that yields the detections of a stream's images, in order. */
type Detect = (source: Images, arrivals: Arrivals) => AsyncGenerator<Detections, void, undefined>;

/** Does the work of `detectFrames`. `end` ends the returned generator when the detector closes. */
async function* detectUntil(
  end: () => void,
  frames: DetectorFrames,
  options: DetectAllOptions | null,
  calls: OneCall,
  detect: Detect,
): AsyncGenerator<Detections, void, undefined> {
  // Open the frames first, so that the detector stays free if they are not iterable.
  const { signal } = checkOptions(options ?? {}, { signal: SIGNAL });
  const source = iteratorOf(frames);
  calls.enter("detectAll", () => {
    end();
    arrivals.stop();
  });
  const arrivals = new Arrivals(signal);
  try {
    yield* detect(source, arrivals);
  } catch (error) {
    if (error !== STOPPED) throw error;
  } finally {
    arrivals.forgetSignal();
    // Do not await the source's `return`: the source may wait for a frame that never comes.
    void Promise.resolve(source.return?.()).catch(() => undefined);
    calls.leave();
  }
}

/** Yields the images of a stream one by one. */
export async function* oneByOne(
  source: Images,
  arrivals: Arrivals,
): AsyncGenerator<DetectorImage, void, undefined> {
  for (;;) {
    const coming = arrivals.watch(source.next());
    await arrivals.next();
    const { done, value } = coming.take();
    if (done) return;
    yield value;
  }
}

/** Returns the iterator of a list, a generator or a stream of images. */
export function iteratorOf(frames: DetectorFrames): Images {
  if (typeof (frames as Partial<PlayingVideo> | null)?.requestVideoFrameCallback === "function")
    return framesOf(frames as PlayingVideo);
  const { [Symbol.asyncIterator]: openAsync, [Symbol.iterator]: openSync } = (frames ?? {}) as Partial<
    AsyncIterable<DetectorImage> & Iterable<DetectorImage>
  >;
  const open: (() => unknown) | undefined = openAsync ?? openSync;
  const expected =
    "something to iterate over: a list, a generator or a stream of images. A single one is for detect()";
  // Refuse the bytes of a photo, although they are iterable.
  if (typeof open !== "function" || typeof frames === "string" || isBytes(frames))
    return refuse("detectAll", show(frames), expected);
  let source: Partial<Images> | null;
  try {
    source = open.call(frames) as Partial<Images> | null;
  } catch (error) {
    // A ReadableStream throws here if another reader has locked it.
    throw new TensorError(
      `detectAll: ${mismatch(`${show(frames)} that does not open (${(error as Error).message})`, expected)}`,
      { cause: error },
    );
  }
  if (typeof source?.next !== "function")
    return refuse("detectAll", `${show(frames)} whose iterator has no next()`, expected);
  return source as Images;
}
