/** Shows a command's progress, only on a terminal. */
import type { Io } from "./io.ts";
import { printable } from "./table.ts";

const BAR = 24;
const NAME = 40;

export class Progress {
  readonly #io: Io;
  readonly #total: number;
  readonly #start = performance.now();
  #done = 0;

  constructor(io: Io, total: number) {
    this.#io = io;
    this.#total = total;
  }

  show(name: string): void {
    if (!this.#io.isTerminal || this.#total < 2) return;
    const filled = Math.round((BAR * this.#done) / this.#total);
    const seconds = (performance.now() - this.#start) / 1000;
    const left =
      this.#done === 0 ? "" : `, ${Math.ceil((seconds / this.#done) * (this.#total - this.#done))} s left`;
    const bar = "#".repeat(filled) + "-".repeat(BAR - filled);
    this.#io.err(`\r\u001b[K[${bar}] ${this.#done}/${this.#total}${left} ${printable(name).slice(-NAME)}`);
  }

  /** Counts an item as done. */
  count(): void {
    this.#done++;
  }

  /** Clears the line, so that other text can be printed. */
  clear(): void {
    if (this.#total > 1) clearLine(this.#io);
  }
}

/** Clears the current line of a terminal, which may show progress. */
export function clearLine(io: Io): void {
  if (io.isTerminal) io.err("\r\u001b[K");
}
