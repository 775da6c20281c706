/** Sends preview pictures of each camera for a live page. Does not spool pictures: a newer one replaces a lost one. */
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import { wait } from "./core/wait.ts";
import type { PreviewSettings } from "./settings/types.ts";
import type { Sink } from "./sinks/sink.ts";
import { writeJpeg } from "./sources/picture.ts";
import type { SourceFrame } from "./sources/source.ts";

/**
 * Longest wait before the picture of a source's last frame is sent, in milliseconds. A host refuses more than five
 * pictures a second of a camera.
 */
const LAST_WAIT = 500;
/** Quality of the JPEG: a page shows it for seconds. */
const QUALITY = 70;

export class Previews {
  /** Counts of pictures that a receiver took, and of pictures that none took. */
  readonly stats = { sent: 0, failed: 0 };
  readonly #settings: PreviewSettings;
  readonly #device: string;
  readonly #sinks: readonly Sink[];
  readonly #log: Logger;
  /** Time of the last picture of each camera. */
  readonly #last = new Map<string, number>();
  /** Pictures on their way, by camera. */
  readonly #sending = new Map<string, Promise<void>>();
  /** The last frame of each camera, if it came too soon for a picture. */
  readonly #skipped = new Map<string, SourceFrame>();

  constructor(settings: PreviewSettings, device: string, sinks: readonly Sink[], log: Logger) {
    this.#settings = settings;
    this.#device = device;
    this.#sinks = sinks.filter((sink) => "preview" in sink);
    this.#log = log;
  }

  /** Sends the picture of a frame if the camera's last one is old enough. Does not wait for the receiver. */
  offer(camera: string, frame: SourceFrame): void {
    const last = this.#last.get(camera) ?? -Infinity;
    const isTooSoon = performance.now() - last < this.#settings.every * 1000;
    if (this.#sending.has(camera) || isTooSoon) this.#skipped.set(camera, frame);
    else this.#start(camera, frame);
  }

  /** Sends the picture of a source's last frame after the source has ended, so that a page shows that frame. */
  async finish(camera: string, signal: AbortSignal): Promise<void> {
    await this.#sending.get(camera);
    const frame = this.#skipped.get(camera);
    if (!frame) return;
    const rest = Math.min(this.#settings.every * 1000, LAST_WAIT) - (performance.now() - this.#last.get(camera)!);
    if (rest > 0) await wait(rest, signal);
    this.#start(camera, frame);
    await this.#sending.get(camera);
  }

  #start(camera: string, frame: SourceFrame): void {
    this.#last.set(camera, performance.now());
    this.#skipped.delete(camera);
    const sending = this.#send(camera, frame).finally(() => this.#sending.delete(camera));
    this.#sending.set(camera, sending);
  }

  async #send(camera: string, { image, id, time }: SourceFrame): Promise<void> {
    try {
      const jpeg = await writeJpeg(image, this.#settings.width, QUALITY);
      const preview = { jpeg, source: this.#device, subject: camera, id, time: time.toISOString() };
      for (const sink of this.#sinks) await sink.preview!(preview);
      this.stats.sent++;
    } catch (error) {
      this.stats.failed++;
      this.#log.debug({ camera }, `preview not sent: ${messageOf(error)}`);
    }
  }
}
