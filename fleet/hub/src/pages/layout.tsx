/** The frame around every page, and small parts that pages share. */
import type { Child } from "hono/jsx";
import type { Membership } from "../nouns/team.ts";
import { ButtonForm, CsrfToken } from "./forms.tsx";

export const PRODUCT = "boxwright hub";

export interface Frame {
  readonly title: string;
  readonly team?: Membership | undefined;
  readonly teams?: readonly Membership[] | undefined;
  readonly email?: string | undefined;
  readonly csrf?: string | undefined;
  /** Navigation entry of this page. */
  readonly here?: string;
  /** True for a page with one short form, which stands in the middle of the page. */
  readonly narrow?: boolean;
}

const ENTRIES = [
  ["devices", "Devices"],
  ["apps", "Applications"],
  ["models", "Model files"],
  ["snaps", "Snaps"],
  ["groups", "Groups"],
  ["alerts", "Alerts"],
  ["adopt-keys", "Adopt keys"],
  ["settings", "Team settings"],
  ["members", "Members"],
  ["audit", "Audit"],
] as const;

export function Layout({ frame, children }: { frame: Frame; children?: Child }) {
  const { team } = frame;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>
          {frame.title} - {PRODUCT}
        </title>
        <link rel="icon" type="image/svg+xml" href="/mark.svg" />
        <link rel="stylesheet" href="/app.css" />
        <script src="/app.js" defer></script>
      </head>
      <body>
        <CsrfToken.Provider value={frame.csrf}>
          <a class="skip" href="#content">
            Skip to content
          </a>
          <Header frame={frame} />
          <main id="content" class={frame.narrow === true ? "narrow" : undefined}>
            {team !== undefined && frame.here !== "account" && (
              <p class="team" title={team.name}>
                {team.name}
              </p>
            )}
            <h1>{frame.title}</h1>
            {children}
          </main>
        </CsrfToken.Provider>
      </body>
    </html>
  );
}

function Header({ frame: { team, teams = [], email, here } }: { frame: Frame }) {
  const current = (entry: string) => (here === entry ? ({ "aria-current": "page" } as const) : {});
  return (
    <header>
      <div class="bar">
        <a class="brand" href="/">
          <img src="/mark.svg" alt="" width="26" height="26" />
          <span>{PRODUCT}</span>
        </a>
        {email !== undefined && (
          <details class="person">
            <summary title={`Signed in as ${email}`}>
              <span class="hidden">Menu of </span>
              <span class="email">{email}</span>
            </summary>
            <div class="menu">
              <p class="soft">
                <Breakable text={email} />
              </p>
              <a href="/account" {...current("account")}>
                Account
              </a>
              {teams.length > 1 && (
                <a href="/teams" {...current("teams")}>
                  {team === undefined ? "Teams" : "Other teams"}
                </a>
              )}
              <ButtonForm action="/sign-out" label="Sign out" />
            </div>
          </details>
        )}
      </div>
      {team !== undefined && (
        <nav aria-label="Team">
          {ENTRIES.map(([page, label]) => (
            <a href={`/teams/${team.id}/${page}`} {...current(page)}>
              {label}
            </a>
          ))}
        </nav>
      )}
    </header>
  );
}

export function Message({ kind, said, children }: { kind: "error" | "done"; said?: boolean; children?: Child }) {
  return (
    <div class={`message ${kind}${said === true ? " said" : ""}`} role={kind === "error" ? "alert" : "status"}>
      {kind === "error" && typeof children === "string" ? <Breakable text={children} /> : children}
    </div>
  );
}

/**
 * A text with a copy button. Without scripts, a click selects the whole text. The text wraps, so that all of it is
 * visible.
 */
export function CopyText({ id, label, value }: { id: string; label: string; value: string }) {
  return (
    <div class="copy">
      <p class="label" id={`${id}-label`}>
        <Breakable text={label} />
      </p>
      <div class="machine" id={id} role="group" aria-labelledby={`${id}-label`} tabindex={0}>
        {value}
      </div>
      <p class="actions">
        <button type="button" class="main" data-copy={id} aria-describedby={`${id}-label`} hidden>
          Copy
        </button>
        <span id={`${id}-status`} role="status"></span>
      </p>
    </div>
  );
}

/** Number of characters of a word that fit into one line on every phone. */
const LONG_WORD = 28;

/** A text with long addresses, which may break after `@`, `.` and similar characters, but not inside words. */
export function Breakable({ text }: { text: string }) {
  const words = text.split(/(\s+)/).map((word) => (word.length > LONG_WORD ? word.split(/(?<=[@._/:+-])/) : [word]));
  return (
    <>
      {words.map((pieces) =>
        pieces.map((piece, i) => (
          <>
            {i > 0 && <wbr />}
            {piece}
          </>
        )),
      )}
    </>
  );
}

/** A name, in bold. */
export function Name({ text }: { text: string }) {
  return (
    <strong>
      <Breakable text={text} />
    </strong>
  );
}

/** Rows of a list. Shows nothing if there are none. */
export function List({ label, class: more = "", children }: { label: string; class?: string; children?: Child }) {
  if (Array.isArray(children) && children.length === 0) return <></>;
  return (
    <ul class={`list ${more}`.trim()} aria-label={label}>
      {children}
    </ul>
  );
}

/** A text of a machine, which scrolls. */
export function Machine({ title, class: more = "", children }: { title: string; class?: string; children?: Child }) {
  return (
    <pre class={`machine ${more}`.trim()} tabindex={0} role="region" aria-label={title}>
      {children}
    </pre>
  );
}

/** A list of names and values. Leaves out rows with unknown values. */
export function Facts({ rows }: { rows: readonly (readonly [string, unknown])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{typeof value === "string" ? <Breakable text={value} /> : value}</dd>
          </div>
        ))}
    </dl>
  );
}

interface ShownOnceProps {
  readonly id: string;
  readonly label: string;
  /** The secret. Undefined if an earlier request of the same form has made it. */
  readonly value: string | undefined;
  readonly back: string;
  readonly backText: string;
  /** Text after "Copy it now: it is not shown again." */
  readonly note: Child;
  /** Instructions for the use of the secret. */
  readonly children?: Child;
}

/** Shows a secret that was just made. Only this answer contains the secret. */
export function ShownOnce({ id, label, value, back, backText, note, children }: ShownOnceProps) {
  return (
    <>
      {value === undefined ? (
        <Message kind="error">
          This form has made its key already, and a key is shown only once. No second key was made.
        </Message>
      ) : (
        <Message kind="done">
          <CopyText id={id} label={label} value={value} />
          <p>
            <strong>Copy it now: it is not shown again.</strong> {note}
          </p>
        </Message>
      )}
      {children}
      <p>
        <a href={back}>Back to {backText}</a>
      </p>
    </>
  );
}
