/**
 * Messages on the next page about the result of a change. The address carries the message with a signature for this
 * session and page, so that nobody else can make the hub show a message.
 */
import { sameText } from "boxwright-service/tokens";
import { seal } from "../core/ids.ts";
import type { Exchange } from "boxwright-service/http/exchange";
import type { Session } from "../nouns/session.ts";

const PARAMETER = "said";

export interface Said {
  readonly text: string;
  /** Form that undoes the change: its address and its fields. */
  readonly undo?: { readonly action: string; readonly fields: Readonly<Record<string, string>> };
}

/** Returns the address of a page that shows the message. `address` may have a query and a fragment. */
export function sayAt(session: Session, address: string, said: Said): string {
  const url = new URL(address, "http://hub");
  const payload = Buffer.from(JSON.stringify(said)).toString("base64url");
  url.searchParams.set(PARAMETER, `${payload}.${markOf(session, url.pathname, payload)}`);
  return `${url.pathname}${url.search}${url.hash}`;
}

/** Returns the message in the address, or undefined. Ignores a message that is signed for another session or page. */
export function readSaid(session: Session, { path, search }: Exchange): Said | undefined {
  const [payload = "", mark = ""] = (new URLSearchParams(search).get(PARAMETER) ?? "").split(".");
  if (payload === "" || !sameText(mark, markOf(session, path, payload))) return undefined;
  return JSON.parse(Buffer.from(payload, "base64url").toString()) as Said;
}

function markOf(session: Session, path: string, payload: string): string {
  return seal(session.token, `said ${path} ${payload}`);
}
