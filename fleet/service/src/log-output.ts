/**
 * Writes the lines of a log to standard output or standard error. A log never stops its service: if the disk is full or
 * the reader hangs, lines are lost. The log counts them, and reports their number when it can write again.
 */
import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import type { DestinationStream } from "pino";

/** Largest number of bytes that wait for a reader. */
const MOST_WAITING = 2 ** 20;
/** Number of bytes, or of milliseconds, after which buffered lines are written. */
const [TOGETHER_BYTES, TOGETHER_MS] = [4096, 500];

export interface LogOutputOptions {
  /** True: collects lines and writes several at once. */
  readonly together?: boolean;
}

export class LogOutput implements DestinationStream {
  readonly #stream: NodeJS.WriteStream;
  /** Descriptor for direct writes. Undefined for a pipe or socket, whose reader may hang. */
  readonly #file: number | undefined;
  readonly #least: number;
  #text = "";
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(fd: 1 | 2, { together = false }: LogOutputOptions = {}) {
    this.#stream = fd === 1 ? process.stdout : process.stderr;
    // Ignore errors of the stream, which would end the process.
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

  /** Writes the collected lines. */
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

  /** Returns a line about lost lines. It starts with a line break, since the last line may have been cut. */
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
 * Returns a descriptor of the file or terminal behind `fd`, or undefined for a pipe or socket. A file is opened again
 * in append mode. If a log rotation truncates it, writes through `fd` itself would leave a hole as large as the old
 * log.
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
    // Use `fd` itself: /proc is missing, or the file belongs to another user.
  }
  return fd;
}
