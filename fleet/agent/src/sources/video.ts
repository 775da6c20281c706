/** The source "video": every frame of a file, in order. If the network is slow, ffmpeg pauses. */
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Logger } from "pino";
import { Backoff } from "boxwright-service/retry";
import { makeFolder } from "../core/files.ts";
import { sha256 } from "../core/ids.ts";
import { Bell, wait } from "../core/wait.ts";
import type { VideoSettings } from "../settings/sources.ts";
import { Cursor } from "../spool/cursor.ts";
import { realDisk } from "../spool/disk.ts";
import { Ffmpeg, argumentsFor, endOf } from "./ffmpeg.ts";
import type { PpmFrame } from "./ppm.ts";
import { type Source, type SourceFrame, newStats } from "./source.ts";

/** Largest number of frames that are read in advance. */
const QUEUE = 2;
/**
 * Number of consecutive failed runs of ffmpeg after which the file is abandoned. A failed run with new frames counts as
 * the first.
 */
const MOST_TRIES = 3;
const USUAL_FPS = 25;

export class VideoSource implements Source {
  readonly camera: string;
  readonly isRecorded = true;
  readonly stats = newStats();
  problem: string | null = null;
  readonly #settings: VideoSettings;
  readonly #log: Logger;
  /** Hash of camera, path, size, time and fps. A replaced file has another hash, and is read from its start. */
  readonly #key: string;
  readonly #begin: number;
  /** Number of frames whose packets are in the spool. */
  readonly #mark: Cursor;
  readonly #queue: SourceFrame[] = [];
  readonly #changed = new Bell();
  readonly #end = new AbortController();
  #running: Promise<void> | null = null;
  #isOver = false;
  #fps = USUAL_FPS;
  /** Index of the next frame to queue. */
  #queued: number;
  #ffmpeg: Ffmpeg | null = null;

  constructor(settings: VideoSettings, state: string, log: Logger) {
    this.camera = settings.camera;
    this.#settings = settings;
    this.#log = log;
    const { size, mtimeMs } = statSync(settings.path);
    this.#key = sha256(`${settings.camera}\n${settings.path}\n${size}\n${mtimeMs}\n${settings.fps}`).slice(0, 24);
    this.#begin = mtimeMs;
    const folder = join(state, "journals");
    makeFolder(folder);
    this.#mark = new Cursor(join(folder, `${sha256(settings.camera, this.#key).slice(0, 32)}.video`), realDisk);
    this.#queued = this.#mark.index;
  }

  async next(signal: AbortSignal): Promise<SourceFrame | null> {
    this.#running ??= this.#run();
    while (!signal.aborted) {
      const frame = this.#queue.shift();
      this.#ffmpeg?.resume();
      if (frame) return frame;
      if (this.#isOver) return null;
      await this.#changed.heard(signal);
    }
    return null;
  }

  /** Resets the progress, so that the next run begins with the first frame. */
  finish(): void {
    this.#mark.move(0);
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#ffmpeg?.close();
    await this.#running;
    this.#mark.close();
  }

  async #run(): Promise<void> {
    const backoff = new Backoff();
    this.#fps = this.#settings.fps ?? (await frameRate(this.#settings.path));
    for (let tries = 0; tries < MOST_TRIES && !this.#end.signal.aborted;) {
      const before = this.#queued;
      let count = 0;
      this.#ffmpeg = new Ffmpeg(argumentsFor(this.#settings), (frame) => this.#take(frame, count++));
      const { code, message } = await this.#ffmpeg.ended;
      if (code === 0) {
        this.problem = null;
        break;
      }
      if (this.#end.signal.aborted) break;
      this.problem = message || endOf(code);
      this.#log.warn({ camera: this.camera }, `video stopped: ${this.problem}`);
      tries = this.#queued > before ? 1 : tries + 1;
      this.stats.restarts++;
      await wait(backoff.next(), this.#end.signal);
    }
    this.#isOver = true;
    this.#changed.ring();
  }

  /** Queues a frame, unless the frame was queued before ffmpeg restarted or spooled by an earlier process. */
  #take({ data, width, height }: PpmFrame, index: number): void {
    if (index < this.#queued) return;
    this.#queued = index + 1;
    this.#queue.push({
      image: { data, width, height, format: "rgb" },
      time: new Date(this.#begin + (index / this.#fps) * 1000),
      id: `${this.#key}-${String(index).padStart(8, "0")}`,
      done: () => this.#mark.move(index + 1),
    });
    if (this.#queue.length >= QUEUE) this.#ffmpeg?.pause();
    this.#changed.ring();
  }
}

/** Returns the frames per second that a file states. */
async function frameRate(path: string): Promise<number> {
  const args = ["-v", "error", "-select_streams", "v:0", "-show_entries", "stream=avg_frame_rate", "-of", "csv=p=0"];
  try {
    const { stdout } = await promisify(execFile)("ffprobe", [...args, `file:${path}`], { timeout: 10_000 });
    const [, up = "0", down = "1"] = /^(\d+)\/(\d+)/.exec(stdout) ?? [];
    return Number(up) / Number(down) || USUAL_FPS;
  } catch {
    return USUAL_FPS;
  }
}
