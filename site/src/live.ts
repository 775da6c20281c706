/** Detects in a playing video, frame by frame, and tracks the objects. */
import { type Detections, type DetectorOptions, type Tracker, createTracker, drawCanvas } from "boxwright";
import { type OpenNetwork, openNetwork } from "./worker/network.ts";

/** The result of a frame. */
export interface LiveFrame {
  readonly count: number;
  /** Count of tracked objects in the frame. */
  readonly ids: number;
  readonly prepare: number;
  readonly run: number;
  readonly decode: number;
  readonly framesPerSecond: number;
}

/** A network that runs on a video. */
export class Live {
  readonly #network: OpenNetwork;
  readonly #end = new AbortController();
  #following: Promise<void> = Promise.resolve();

  private constructor(network: OpenNetwork) {
    this.#network = network;
  }

  static async open(model: Uint8Array, options: DetectorOptions, config?: unknown): Promise<Live> {
    return new Live(await openNetwork(model, options, config));
  }

  update(confidenceThreshold: number, iouThreshold: number): void {
    this.#network.detector.decoder.update({ confidenceThreshold, iouThreshold });
  }

  /** Draws the detections of each frame on a canvas, until the video ends or `close` is called. */
  async follow(
    video: HTMLVideoElement,
    canvas: HTMLCanvasElement,
    onFrame: (frame: LiveFrame) => void,
  ): Promise<void> {
    const following = this.#follow(video, canvas, onFrame);
    this.#following = following.catch(() => undefined);
    try {
      await following;
    } catch (error) {
      if (!this.#end.signal.aborted) throw error;
    }
  }

  async #follow(
    video: HTMLVideoElement,
    canvas: HTMLCanvasElement,
    onFrame: (frame: LiveFrame) => void,
  ): Promise<void> {
    const { detector } = this.#network;
    const context = canvas.getContext("2d")!;
    let tracker: Tracker | null = null;
    let last = 0;
    let framesPerSecond = 0;
    for await (const found of detector.detectAll(video, { signal: this.#end.signal })) {
      const now = performance.now() / 1000;
      if (last > 0) framesPerSecond = 0.8 * framesPerSecond + 0.2 / Math.max(0.001, now - last);
      last = now;
      const size = [video.videoWidth, video.videoHeight] as const;
      if (canvas.width !== size[0] || canvas.height !== size[1]) {
        [canvas.width, canvas.height] = size;
        tracker = null;
      } else context.clearRect(0, 0, ...size);
      tracker ??= createTracker({ method: "bytetrack", size });
      const ids = tracker.update(found, now);
      draw(context, found, ids, detector.decoder.config.task?.name === "segment");
      const { prepare, run, decode } = detector.timings;
      const count = found.length;
      const inView = ids.subarray(0, count).filter((id) => id > 0).length;
      onFrame({ count, ids: inView, prepare, run, decode, framesPerSecond });
    }
  }

  /** Ends `follow`, waits for the current frame, and frees the network. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#following;
    await this.#network.detector.close();
  }
}

/** Draws masks if there are any, and boxes with the track's id before the label. */
function draw(
  context: CanvasRenderingContext2D,
  found: Detections,
  ids: ArrayLike<number>,
  hasMasks: boolean,
): void {
  const rows = found.toArray();
  const mask: Detections["mask"] = (i, options) => found.mask(i, options);
  drawCanvas(context, Object.assign(rows, { edges: found.edges, ...(hasMasks && { mask }) }), {
    tag: (d, row) => `${ids[row] ? `${ids[row]}: ` : ""}${d.label} ${Math.round(100 * d.confidence)}%`,
  });
}
