/** Answers of pages. Every answer is sent as `no-store`, so that Back never shows a key again. */
import type { Child } from "hono/jsx";
import { UnavailableError } from "boxwright-service/errors";
import { UserError } from "../core/errors.ts";
import type { AnswerHeaders, Exchange } from "boxwright-service/http/exchange";
import { Layout, Message, type Frame } from "./layout.tsx";

export interface Answer {
  readonly status: number;
  readonly html: string;
  readonly headers: AnswerHeaders;
}

/** Seconds after which a user may retry. Within this time, several of the queued sign-ins end. */
export const BUSY_WAIT = 5;

/** Content-Security-Policy of pages. A page with content from other places extends this policy. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const SECURITY = {
  "content-security-policy": PAGE_POLICY,
  // Use `same-origin`. With `no-referrer`, browsers would send `Origin: null` with the hub's own forms.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
} as const;
const HTTPS_ONLY = { "strict-transport-security": "max-age=31536000" } as const;

/** Renders a page. */
export function show(frame: Frame, content: Child, status = 200, headers: AnswerHeaders = {}): Answer {
  const page = <Layout frame={frame}>{content}</Layout>;
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- the elements of hono/jsx print as their markup
  return { status, html: `<!doctype html>${String(page)}`, headers };
}

export function redirect(location: string, headers: AnswerHeaders = {}): Answer {
  return { status: 303, html: "", headers: { ...headers, location } };
}

export function sendAnswer(exchange: Exchange, { status, html, headers }: Answer, baseUrl: string): void {
  const secured = baseUrl.startsWith("https:") ? { ...SECURITY, ...HTTPS_ONLY } : SECURITY;
  exchange.send(status, "text/html; charset=utf-8", html, { ...secured, ...headers });
}

export function notFound(frame: Frame = { title: "Not found" }): Answer {
  return show(
    { ...frame, narrow: true },
    <p>
      There is no such page, or it is not yours to see. <a href="/">Go to the start page</a>
    </p>,
    404,
  );
}

export function refused(status: 403 | 415, content: Child): Answer {
  return show({ title: "Refused", narrow: true }, <Problem>{content}</Problem>, status);
}

function Problem({ children }: { children?: Child }) {
  return (
    <>
      <Message kind="error">{children}</Message>
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </>
  );
}

/** Shows an error. For an error of the hub itself, shows only the request id. */
export function problemPage(error: unknown, requestId: string): Answer {
  if (error instanceof UserError) {
    // Status 503 has one cause for users: the queue of password checks is full.
    const headers = error.status === 503 ? { "retry-after": String(BUSY_WAIT) } : {};
    return show({ title: "Not possible", narrow: true }, <Problem>{error.shown}</Problem>, error.status, headers);
  }
  const away = error instanceof UnavailableError;
  return show(
    { title: away ? "Not available" : "Something went wrong", narrow: true },
    <Problem>
      {away ? "The hub cannot use its database at the moment. Try again soon." : "The hub has made an error."} If it
      goes on, tell whoever runs this hub: request <code>{requestId}</code>.
    </Problem>,
    away ? 503 : 500,
    away ? { "retry-after": "1" } : {},
  );
}
