/** The sources "rtsp" and "v4l2": live cameras. If the network is too slow, the oldest waiting frame is dropped. */
import type { Logger } from "pino";
import { Backoff } from "boxwright-service/retry";
import { ulid } from "../core/ids.ts";
import { Bell, wait } from "../core/wait.ts";
import { Ffmpeg, endOf } from "./ffmpeg.ts";
import { type Source, type SourceFrame, newStats } from "./source.ts";

/** Largest number of frames that wait for the network. */
const QUEUE = 2;

export interface LiveOptions {
  readonly camera: string;
  readonly args: readonly string[];
  /** Text for the program's standard input. Default: none. */
  readonly input?: string;
  /** Name of the program. Default: "ffmpeg". */
  readonly command?: string;
  /** Milliseconds without a frame after which ffmpeg is restarted. */
  readonly stall?: number;
  /** Milliseconds of the pause after the first failure. */
  readonly firstWait?: number;
}

export class LiveSource implements Source {
  readonly camera: string;
  readonly isRecorded = false;
  readonly stats = newStats();
  problem: string | null = "no frame yet";
  readonly #options: LiveOptions;
  readonly #log: Logger;
  readonly #queue: SourceFrame[] = [];
  readonly #arrived = new Bell();
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  /** Part of every frame id of this start, so that ids of two starts differ. */
  readonly #startId = ulid();
  #count = 0;
  #ffmpeg: Ffmpeg | null = null;
  #lastFrame = 0;

  constructor(options: LiveOptions, log: Logger) {
    this.camera = options.camera;
    this.#options = options;
    this.#log = log;
    this.#running = this.#run();
  }

  async next(signal: AbortSignal): Promise<SourceFrame | null> {
    while (!signal.aborted && !this.#end.signal.aborted) {
      const frame = this.#queue.shift();
      if (frame) return frame;
      await this.#arrived.heard(signal);
    }
    return null;
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#arrived.ring();
    await this.#ffmpeg?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const backoff = new Backoff(this.#options.firstWait ?? 500);
    const { signal } = this.#end;
    while (!signal.aborted) {
      const before = this.#count;
      this.#lastFrame = performance.now();
      const { args, command, input } = this.#options;
      this.#ffmpeg = new Ffmpeg(args, (frame) => this.#take(frame), command, input);
      const watchdog = this.#watchStall(this.#ffmpeg);
      const { code, message } = await this.#ffmpeg.ended;
      clearInterval(watchdog);
      if (signal.aborted) return;
      if (this.#count > before) backoff.reset();
      this.problem = message || (code === 0 ? "the camera ended the stream" : endOf(code));
      const pause = backoff.next();
      this.#log.warn({ camera: this.camera, retryMilliseconds: pause }, `camera lost: ${this.problem}`);
      await wait(pause, signal);
      this.stats.restarts++;
    }
  }

  #watchStall(ffmpeg: Ffmpeg): NodeJS.Timeout {
    const stall = this.#options.stall ?? 15_000;
    return setInterval(() => {
      if (performance.now() - this.#lastFrame > stall) void ffmpeg.close();
    }, stall / 4).unref();
  }

  /** Queues a frame. Its time is the arrival of the last byte, since cameras state no reliable time. */
  #take({ data, width, height }: { data: Uint8Array; width: number; height: number }): void {
    this.#lastFrame = performance.now();
    this.problem = null;
    this.#queue.push({
      image: { data, width, height, format: "rgb" },
      time: new Date(),
      id: `${this.#startId}-${String(this.#count++).padStart(10, "0")}`,
      done: () => undefined,
    });
    if (this.#queue.length > QUEUE) {
      this.#queue.shift();
      this.stats.dropped++;
    }
    this.#arrived.ring();
  }
}
