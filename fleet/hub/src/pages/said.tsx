/**
 * Messages that tell, on the next page, what a change did. A message travels in the address, sealed for the session and
 * the page: nobody else can make the hub say something.
 */
import { sameText } from "boxwright-service/tokens";
import { seal } from "../core/ids.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Session } from "../nouns/session.ts";
import { Breakable, Csrf, Message } from "./layout.tsx";

const PARAMETER = "said";

export interface Said {
  readonly text: string;
  /** The form that takes the change back: where it is sent, and its fields. */
  readonly undo?: { readonly action: string; readonly fields: Readonly<Record<string, string>> };
}

/** Returns the address of a page that tells what happened. `address` may have a query and a fragment. */
export function sayAt(session: Session, address: string, said: Said): string {
  const url = new URL(address, "http://hub");
  const payload = Buffer.from(JSON.stringify(said)).toString("base64url");
  url.searchParams.set(PARAMETER, `${payload}.${markOf(session, url.pathname, payload)}`);
  return `${url.pathname}${url.search}${url.hash}`;
}

/** Returns what the address tells, or undefined. A message of another session or page is none. */
export function readSaid(session: Session, { path, search }: Exchange): Said | undefined {
  const [payload = "", mark = ""] = (new URLSearchParams(search).get(PARAMETER) ?? "").split(".");
  if (payload === "" || !sameText(mark, markOf(session, path, payload))) return undefined;
  return JSON.parse(Buffer.from(payload, "base64url").toString()) as Said;
}

function markOf(session: Session, path: string, payload: string): string {
  return seal(session.token, `said ${path} ${payload}`);
}

export function SaidMessage({ said, csrf }: { said: Said | undefined; csrf: string }) {
  if (said === undefined) return <></>;
  return (
    <Message kind="done" said>
      <span>
        <Breakable text={said.text} />
      </span>
      {said.undo !== undefined && (
        <form method="post" action={said.undo.action}>
          <Csrf value={csrf} />
          {Object.entries(said.undo.fields).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <button type="submit">Undo</button>
        </form>
      )}
    </Message>
  );
}
