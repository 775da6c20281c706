/**
 * The log of every service: a JSON object per line, with `level` as a word and `time` in ISO 8601. List each logged
 * field by name, and never log headers, tokens or packets.
 */
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import { messageOf } from "./errors.ts";
import { LogOutput } from "./log-output.ts";

export type { DestinationStream, Logger };

export interface LogOptions {
  /** Destination of lines. Default: standard output, unbuffered. */
  readonly destination?: DestinationStream | undefined;
  /** Removes secrets from error texts, which may quote outside input. */
  readonly redact?: (text: string) => string;
}

/** @param level lowest level that is logged */
export function createLogger(level: string, { destination, redact = (text) => text }: LogOptions = {}): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        err: (error: unknown) =>
          error instanceof Error
            ? {
                name: error.name,
                message: redact(error.message),
                stack: redact(error.stack ?? ""),
                ...(error.cause === undefined ? {} : { cause: redact(messageOf(error.cause)) }),
              }
            : redact(messageOf(error)),
      },
    },
    destination ?? new LogOutput(1),
  );
}
