/** JSON bodies of agents. */
import { ProtocolError } from "boxwright-service/fleet-protocol";
import { UserError } from "../core/errors.ts";
import { readBody } from "../http/body.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refusals.ts";

/** A heartbeat has some hundred bytes, and at most 16 network interfaces. */
const MAX_BODY = 64 * 1024;

/** Reads a body with `check`, or answers with a refusal and returns undefined. */
export async function readJson<T>(
  exchange: Exchange,
  check: (body: unknown) => T,
  max = MAX_BODY,
): Promise<T | undefined> {
  const body = await readBody(exchange.request, max);
  if (body.kind === "gone") return undefined;
  if (body.kind === "refused") {
    refuse(exchange, body.code);
    return undefined;
  }
  try {
    return check(parse(body.text));
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

export function sendJson(exchange: Exchange, status: number, body: object): void {
  exchange.send(status, "application/json; charset=utf-8", JSON.stringify(body));
}
