/** Logs: one JSON object a line, fields chosen one by one. Tokens and packets are never logged. */
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";

export type { Logger };

export function createLogger(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

/** Cuts a text that came from elsewhere, and takes control characters out. */

export const shown = (text: string): string => text.slice(0, 300).replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
