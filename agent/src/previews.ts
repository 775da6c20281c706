/** Sends preview pictures of each camera for a live page. They are not spooled: a newer picture replaces a lost one. */
import type { Logger } from "pino";
import { messageOf } from "./core/errors.ts";
import type { PreviewSettings } from "./settings/types.ts";
import type { Sink } from "./sinks/sink.ts";
import { writePreview } from "./sources/picture.ts";
import type { SourceFrame } from "./sources/source.ts";

export class Previews {
  /** Counts of pictures that a receiver took, and of pictures that none took. */
  readonly stats = { sent: 0, failed: 0 };
  readonly #settings: PreviewSettings;
  readonly #device: string;
  readonly #sinks: readonly Sink[];
  readonly #log: Logger;
  /** Time of the last picture of each camera. */
  readonly #last = new Map<string, number>();
  readonly #busy = new Set<string>();

  constructor(settings: PreviewSettings, device: string, sinks: readonly Sink[], log: Logger) {
    this.#settings = settings;
    this.#device = device;
    this.#sinks = sinks.filter((sink) => "preview" in sink);
    this.#log = log;
  }

  /** Sends the picture of a frame if the camera's last one is old enough. Does not wait for the receiver. */
  offer(camera: string, frame: SourceFrame): void {
    const now = performance.now();
    const last = this.#last.get(camera) ?? -Infinity;
    if (this.#busy.has(camera) || now - last < this.#settings.every * 1000) return;
    this.#last.set(camera, now);
    this.#busy.add(camera);
    void this.#send(camera, frame).finally(() => this.#busy.delete(camera));
  }

  async #send(camera: string, { image, id, time }: SourceFrame): Promise<void> {
    try {
      const jpeg = await writePreview(image, this.#settings.width);
      const preview = { jpeg, source: this.#device, subject: camera, id, time: time.toISOString() };
      for (const sink of this.#sinks) await sink.preview!(preview);
      this.stats.sent++;
    } catch (error) {
      this.stats.failed++;
      this.#log.debug({ camera }, `preview not sent: ${messageOf(error)}`);
    }
  }
}
