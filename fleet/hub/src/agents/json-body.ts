/** Reads JSON bodies of agents. */
import { ProtocolError } from "boxwright-service/schema/protocol";
import { UserError } from "../core/errors.ts";
import { readText } from "boxwright-service/http/body";
import type { Exchange } from "boxwright-service/http/exchange";
import { refuse } from "../http/refusals.ts";

/** Largest number of bytes in a body. A heartbeat has some hundred bytes, and at most 16 network interfaces. */
const MAX_BODY = 64 * 1024;

/** Parses a body and validates it with `check`, or answers with a refusal and returns undefined. */
export async function readJson<T>(
  exchange: Exchange,
  check: (body: unknown) => T,
  max = MAX_BODY,
): Promise<T | undefined> {
  const text = await readText(exchange, { most: max });
  try {
    return check(parse(text));
  } catch (error) {
    if (!(error instanceof ProtocolError) && !(error instanceof UserError)) throw error;
    refuse(exchange, "invalid_device_body", `: ${error.message}`);
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolError("body: got text that is not JSON, expected a JSON object");
  }
}
