/**
 * Structured logs, one JSON object a line. Fields are chosen one by one: never headers, never addresses as sent. Texts
 * of errors come from elsewhere, so keys are cut out of them.
 */
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from "pino";
import { KEY_PATTERN } from "./key.ts";

export type { Logger };

const EVERY_KEY = new RegExp(KEY_PATTERN.source.replaceAll("\\b", ""), "g");

export function redact(text: string): string {
  return text.replace(EVERY_KEY, (key) => `${key.slice(0, 17)}[redacted]`);
}

export function createLogger(level: string, destination?: DestinationStream): Logger {
  const target = destination ?? pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 500 });
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
                ...(error.cause instanceof Error ? { cause: redact(error.cause.message) } : {}),
              }
            : redact(String(error)),
      },
    },
    target,
  );
}
