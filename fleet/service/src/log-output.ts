/**
 * Where the lines of a log go: standard output or standard error. A log never stops its service. Lines that cannot be
 * written, since the disk is full or the reader hangs, are lost, and the log counts them once it can be written again.
 */
import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import type { DestinationStream } from "pino";

/** Most bytes that wait for a reader. */
const MOST_WAITING = 2 ** 20;
/** Lines are written together once they have so many bytes, or after so many milliseconds. */
const [TOGETHER_BYTES, TOGETHER_MS] = [4096, 500];

export interface LogOutputOptions {
  /** True: writes several lines at once. */
  readonly together?: boolean;
}

export class LogOutput implements DestinationStream {
  readonly #stream: NodeJS.WriteStream;
  /** Descriptor that is written directly; undefined for a pipe or socket, whose reader may hang. */
  readonly #file: number | undefined;
  readonly #least: number;
  #text = "";
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(fd: 1 | 2, { together = false }: LogOutputOptions = {}) {
    this.#stream = fd === 1 ? process.stdout : process.stderr;
    // An error of the stream would end the process.
    this.#stream.on("error", () => undefined);
    this.#least = together ? TOGETHER_BYTES : 1;
    this.#file = fileOf(fd);
    process.on("exit", () => this.flush());
  }

  write(line: string): void {
    this.#text += line;
    if (this.#text.length >= this.#least) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), TOGETHER_MS).unref();
  }

  /** Writes the lines that wait. */
  flush(done?: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#text;
    this.#text = "";
    if (lines !== "" && !this.#put(this.#lost === 0 ? lines : this.#notice() + lines))
      this.#lost += lines.split("\n").length - 1;
    else if (lines !== "") this.#lost = 0;
    done?.();
  }

  /** Tells of lost lines. Begins a new line: the last one may have been cut. */
  #notice(): string {
    const notice = { level: "warn", time: new Date().toISOString(), lines: this.#lost };
    return `\n${JSON.stringify({ ...notice, msg: "lines were lost: the log could not be written" })}\n`;
  }

  #put(text: string): boolean {
    if (this.#file === undefined) {
      if (this.#stream.destroyed || this.#stream.writableLength > MOST_WAITING) return false;
      this.#stream.write(text);
      return true;
    }
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
      return true;
    } catch {
      return false;
    }
  }
}

/**
 * Returns a descriptor of the file or terminal behind `fd`; undefined if it is a pipe or socket. A file is opened anew
 * to append: after a rotation that truncates it, writes would leave a hole as large as the old log.
 */
function fileOf(fd: 1 | 2): number | undefined {
  try {
    const found = fstatSync(fd);
    if (found.isFIFO() || found.isSocket()) return undefined;
    if (!found.isFile()) return fd;
    const again = openSync(`/proc/self/fd/${fd}`, "a");
    if (fstatSync(again).ino === found.ino) return again;
    closeSync(again);
  } catch {
    // There is no /proc, or the file belongs to another user: write as it was opened.
  }
  return fd;
}
