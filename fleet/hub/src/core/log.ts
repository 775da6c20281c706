/** The hub's log. Texts of errors come from elsewhere, so keys are cut out of them. */
import { createLogger as create, type DestinationStream, type Logger } from "boxwright-service/log";
import { LogOutput } from "boxwright-service/log-output";
import { ANY_KEY_PATTERN } from "./key.ts";

const EVERY_KEY = new RegExp(ANY_KEY_PATTERN.source.replaceAll("\\b", ""), "g");

export function redact(text: string): string {
  return text.replace(EVERY_KEY, (key) => `${key.slice(0, 17)}[redacted]`);
}

/** Lines are written together: there is one for each request. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  return create(level, { destination: destination ?? new LogOutput(1, { together: true }), redact });
}
