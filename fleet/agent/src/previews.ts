/**
 * Sends preview pictures of each camera to a live page. Pictures are not spooled, since a newer picture replaces a lost
 * one.
 */
import { type ImageInput, prepareImage } from "boxwright";
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import { KEPT_PICTURES } from "boxwright-service/schema/protocol";
import { wait } from "./core/wait.ts";
import type { PreviewSettings } from "./settings/schema.ts";
import type { Sink } from "./sinks/sink.ts";
import { writeJpeg } from "./sources/picture.ts";
import type { Source, SourceFrame } from "./sources/source.ts";

/** The fields of a source that a preview needs. */
type About = Pick<Source, "camera" | "isRecorded">;
type Shown = Pick<SourceFrame, "image" | "id" | "time">;

/**
 * Largest number of milliseconds between two pictures after a source has ended. Hosts refuse a picture within 200 ms of
 * the camera's last one.
 */
const LAST_WAIT = 300;
/** JPEG quality, which is low since a page shows the picture for seconds only. */
const QUALITY = 70;

export class Previews {
  /** Numbers of pictures that all receivers accepted, and of pictures that some receiver did not accept. */
  readonly stats = { sent: 0, failed: 0 };
  readonly #settings: PreviewSettings;
  readonly #device: string;
  readonly #sinks: readonly Sink[];
  readonly #log: Logger;
  /** Time at which each camera's last picture was delivered. */
  readonly #last = new Map<string, number>();
  /** Pictures being sent, by camera. */
  readonly #sending = new Map<string, Promise<void>>();
  /** Last frames of each camera whose pictures were not sent: one frame of a live source, several of a recorded one. */
  readonly #skipped = new Map<string, readonly Shown[]>();
  /** Timers that send the skipped pictures of idle cameras: a watched folder may yield nothing for hours. */
  readonly #idle = new Map<string, NodeJS.Timeout>();
  /** Skipped pictures being sent, by camera. */
  readonly #finishing = new Map<string, Promise<void>>();

  constructor(settings: PreviewSettings, device: string, sinks: readonly Sink[], log: Logger) {
    this.#settings = settings;
    this.#device = device;
    this.#sinks = sinks.filter((sink) => "preview" in sink);
    this.#log = log;
  }

  /**
   * Sends the picture of a frame if the camera's last picture is old enough. Sends skipped pictures once the camera
   * yields nothing more. Does not wait for the receiver.
   */
  offer(source: About, frame: SourceFrame, signal: AbortSignal): void {
    const { camera, isRecorded } = source;
    const { id, time, image } = frame;
    const before = isRecorded ? (this.#skipped.get(camera) ?? []) : [];
    const waiting = [...before, isRecorded ? { id, time, image: smaller(image, this.#settings.width) } : frame];
    const last = this.#last.get(camera) ?? -Infinity;
    const isTooSoon = performance.now() - last < this.#settings.every * 1000;
    // Send the oldest first, so that photos arrive in order.
    const isFree = !this.#sending.has(camera) && !this.#finishing.has(camera);
    if (isFree && !isTooSoon) this.#start(source, waiting.shift()!);
    this.#skipped.set(camera, waiting.slice(-KEPT_PICTURES));
    clearTimeout(this.#idle.get(camera));
    const timer = setTimeout(() => void this.finish(source, signal), this.#settings.every * 1000);
    this.#idle.set(camera, timer.unref());
  }

  /**
   * Sends the pictures of a source's last frames after it has ended or become idle, so that a page shows these frames.
   */
  finish(source: About, signal: AbortSignal): Promise<void> {
    const { camera } = source;
    clearTimeout(this.#idle.get(camera));
    const before = this.#finishing.get(camera) ?? Promise.resolve();
    const finished = before
      .then(() => this.#sendSkipped(source, signal))
      .finally(() => this.#finishing.get(camera) === finished && this.#finishing.delete(camera));
    this.#finishing.set(camera, finished);
    return finished;
  }

  async #sendSkipped(source: About, signal: AbortSignal): Promise<void> {
    const { camera } = source;
    await this.#sending.get(camera);
    const skipped = this.#skipped.get(camera) ?? [];
    this.#skipped.delete(camera);
    for (const frame of skipped) {
      const rest = Math.min(this.#settings.every * 1000, LAST_WAIT) - (performance.now() - this.#last.get(camera)!);
      if (rest > 0) await wait(rest, signal);
      if (signal.aborted) return;
      this.#start(source, frame);
      await this.#sending.get(camera);
    }
  }

  #start(source: About, frame: Shown): void {
    const { camera } = source;
    const sending = this.#send(source, frame).finally(() => {
      this.#sending.delete(camera);
      this.#last.set(camera, performance.now());
    });
    this.#sending.set(camera, sending);
  }

  async #send({ camera, isRecorded }: About, { image, id, time }: Shown): Promise<void> {
    try {
      const jpeg = await writeJpeg(image, this.#settings.width, QUALITY);
      const preview = { jpeg, source: this.#device, subject: camera, id, time: time.toISOString(), isRecorded };
      for (const sink of this.#sinks) await sink.preview!(preview);
      this.stats.sent++;
    } catch (error) {
      this.stats.failed++;
      this.#log.debug({ camera }, `preview not sent: ${messageOf(error)}`);
    }
  }
}

/** Returns an RGB picture at most `width` wide: several waiting photos of 12 megapixels would fill the memory. */
function smaller(image: ImageInput, width: number): ImageInput {
  if (image.width <= width) return image;
  const height = Math.max(1, Math.round((image.height * width) / image.width));
  const rule = { size: [width, height], resize: "stretch", resample: "area", layout: "NHWC", type: "u8" } as const;
  return { data: prepareImage(image, rule).tensor.data as Uint8Array, width, height, format: "rgb" };
}
