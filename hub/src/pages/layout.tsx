/** The frame around every page, and the few pieces that pages share. */
import type { Child } from "hono/jsx";
import type { Membership } from "../nouns/team.ts";

export interface Frame {
  readonly title: string;
  readonly team?: Membership | undefined;
  readonly teams?: readonly Membership[] | undefined;
  readonly email?: string | undefined;
  readonly csrf?: string | undefined;
  /** The entry of the navigation that stands for this page. */
  readonly here?: string;
}

export function Layout({ frame, children }: { frame: Frame; children?: Child }) {
  const { team, teams = [], email } = frame;
  const pages = team === undefined ? [] : (["devices", "settings", "members"] as const);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{frame.title} - Hub</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/app.css" />
        <script src="/app.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <header>
          <span class="brand">{team?.name ?? "Hub"}</span>
          {email !== undefined && (
            <nav aria-label="Pages">
              {team !== undefined &&
                pages.map((page) => (
                  <a href={`/teams/${team.id}/${page}`} {...(frame.here === page ? { "aria-current": "page" } : {})}>
                    {page === "settings" ? "Team settings" : page[0]!.toUpperCase() + page.slice(1)}
                  </a>
                ))}
              {teams.length > 1 && (
                <a href="/teams" {...(frame.here === "teams" ? { "aria-current": "page" } : {})}>
                  {team === undefined ? "Teams" : "Other teams"}
                </a>
              )}
              <a href="/account" {...(frame.here === "account" ? { "aria-current": "page" } : {})}>
                Account
              </a>
            </nav>
          )}
          {frame.csrf !== undefined && (
            <form method="post" action="/sign-out">
              <input type="hidden" name="csrf" value={frame.csrf} />
              <button type="submit">Sign out</button>
            </form>
          )}
        </header>
        <main id="content">
          <h1>{frame.title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
}

export function Message({ kind, children }: { kind: "error" | "done"; children?: Child }) {
  return (
    <div class={`panel ${kind}`} role={kind === "error" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** A read-only field with a button that copies it. Without script the field can be selected. */
export function CopyField({ id, label, value }: { id: string; label: string; value: string }) {
  return (
    <div>
      <label for={id}>{label}</label>
      <input class="key" id={id} value={value} readonly autocomplete="off" spellcheck={false} />
      <button type="button" class="main" data-copy={id} hidden>
        Copy
      </button>{" "}
      <span id={`${id}-status`} role="status"></span>
    </div>
  );
}

/** The mark that ties a form to its session. */
export function Csrf({ value }: { value: string }) {
  return <input type="hidden" name="csrf" value={value} />;
}
