/** The log: on stderr, where systemd and containers collect it. */
import { type Logger, createLogger } from "boxwright-service/log";
import { destination } from "pino";

export const openLog = (level: string): Logger => createLogger(level, { destination: destination(2) });

/** Logs an error that may repeat with every frame: the 1st, 10th, 100th, ... time in a row that its text occurs. */
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
