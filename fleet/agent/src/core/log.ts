/** The log, written to stderr, where systemd and containers collect it. */
import { type Logger, createLogger } from "boxwright-service/log";
import { LogOutput } from "boxwright-service/log-output";
import type { RecentLog } from "./recent-log.ts";

/** @param recent also gets every line */
export function openLog(level: string, recent: RecentLog): Logger {
  const stderr = new LogOutput(2);
  const write = (line: string): void => {
    stderr.write(line);
    recent.add(line);
  };
  return createLogger(level, { destination: { write } });
}

/** Logs an error that may repeat with every frame. Logs only the 1st, 10th, 100th, ... of equal errors in a row. */
export class RareLog {
  readonly #log: Logger;
  #last = "";
  #count = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  error(fields: object, message: string): void {
    this.#count = message === this.#last ? this.#count + 1 : 1;
    this.#last = message;
    if (/^10*$/.test(String(this.#count))) this.#log.error({ ...fields, count: this.#count }, message);
  }
}
