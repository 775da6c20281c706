/**
 * The last lines of the log, for the hub. At the end of the process they are written to the state folder, so that the
 * next start can send the lines of a failed process.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { cutLog, MOST_LOG_BYTES, MOST_LOG_LINES, redactLog } from "boxwright-service/device-log";
import { readIfThere, replaceFile } from "./files.ts";

/** First line of the stored file if its process ended with an error. */
const FAILED = "ended in an error\n";

export class RecentLog {
  #lines: string[] = [];
  #bytes = 0;

  /** Adds text of the log: one or more lines. */
  add(text: string): void {
    for (const line of text.split("\n")) {
      if (line === "") continue;
      this.#lines.push(line);
      this.#bytes += line.length;
    }
    while (this.#lines.length > MOST_LOG_LINES || (this.#bytes > MOST_LOG_BYTES && this.#lines.length > 1))
      this.#bytes -= this.#lines.shift()!.length;
  }

  /** Returns the lines without secrets. @param known secrets of this device */
  text(known: readonly string[]): string {
    return cutLog(redactLog(this.#lines.join("\n"), known));
  }

  /** Keeps the lines for the next start. Never throws: the process ends. */
  keep(state: string, isFailed: boolean): void {
    try {
      replaceFile(join(state, "last-log"), `${isFailed ? FAILED : ""}${this.text([])}\n`);
    } catch {
      // Ignore the error: the folder is missing or full, and no lines are kept.
    }
  }

  /**
   * Puts the stored lines of the previous process before those of this one. Returns true if the previous process ended
   * with an error.
   */
  recall(state: string): boolean {
    const path = join(state, "last-log");
    const text = readIfThere(path) ?? "";
    // Delete the file now. A killed process stores nothing, so the next one would report the old failure again.
    rmSync(path, { force: true });
    const isFailed = text.startsWith(FAILED);
    const own = this.#lines.splice(0);
    this.#bytes = 0;
    this.add(text.slice(isFailed ? FAILED.length : 0));
    this.add(own.join("\n"));
    return isFailed;
  }
}
