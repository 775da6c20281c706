/** Creates the hub's log. Keys are cut out of messages, since the text of an error may quote a request. */
import { createLogger as create, type DestinationStream, type Logger } from "boxwright-service/log";
import { LogOutput } from "boxwright-service/log-output";
import { ANY_KEY_PATTERN } from "./key.ts";

const EVERY_KEY = new RegExp(ANY_KEY_PATTERN.source.replaceAll("\\b", ""), "g");

export function redact(text: string): string {
  return text.replace(EVERY_KEY, (key) => `${key.slice(0, 17)}[redacted]`);
}

/** Creates a logger that writes lines in batches, since every request logs a line. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  return create(level, { destination: destination ?? new LogOutput(1, { together: true }), redact });
}
