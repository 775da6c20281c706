/** Logs one JSON object a line. Never log tokens or packets: name each field that is logged. */
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

/** Cuts a text from outside to 300 characters, and replaces control characters. */
export const sanitise = (text: string): string => text.slice(0, 300).replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
