/** The frame around every page, and small parts that pages share. */
import type { Child } from "hono/jsx";
import type { Membership } from "../nouns/team.ts";

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
      </body>
    </html>
  );
}

function Header({ frame: { team, teams = [], email, csrf, here } }: { frame: Frame }) {
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
              <form method="post" action="/sign-out">
                <Csrf value={csrf ?? ""} />
                <button type="submit">Sign out</button>
              </form>
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

/** Hidden field with the CSRF token, which ties a form to its session. */
export function Csrf({ value }: { value: string }) {
  return <input type="hidden" name="csrf" value={value} />;
}

interface ButtonFormProps {
  readonly action: string;
  readonly csrf: string;
  readonly label: string;
  /** Name of the object that the button acts on. Screen readers read this name after the label. */
  readonly name: string;
}

/** A form that consists of one button. */
export function ButtonForm({ action, csrf, label, name }: ButtonFormProps) {
  return (
    <form method="post" action={action}>
      <Csrf value={csrf} />
      <button type="submit" aria-label={`${label} ${name}`}>
        {label}
      </button>
    </form>
  );
}
