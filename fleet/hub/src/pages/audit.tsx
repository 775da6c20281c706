/** The audit of a team: who changed what, the newest change first. Also deletes old rows. */
import { csrfOf } from "../auth/cookie.ts";
import { UserError } from "../core/errors.ts";
import { auditLines, deleteAudit, findAudit, type AuditRow } from "../nouns/audit.ts";
import { requireAdmin } from "../nouns/team.ts";
import { countText } from "./ago.tsx";
import { redirect, show, type Answer } from "./answer.tsx";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { Breakable, Csrf } from "./layout.tsx";
import { refuseMethod } from "../http/refusals.ts";
import { Notices, sayAt } from "./said.tsx";
import type { Site } from "./site.ts";

const ROWS_A_PAGE = 100;
const DAY_MS = 86_400_000;
const LEAST_DAYS = 30;
const MAX_DAYS = 36_500;
/** Prefixes of action names, and the words with which the page names them. */
const KINDS = [
  ["", "anything"],
  ["device.", "devices"],
  ["group.", "groups"],
  ["adopt_key.", "adopt keys"],
  ["app.", "applications"],
  ["snap", "snaps"],
  ["key.", "API keys"],
  ["member.", "members"],
  ["invite.", "invitations"],
] as const;

interface View {
  readonly kind: string;
  readonly subject: string;
  readonly before: string | undefined;
}

export function registerAudit(site: Site, guards: Guards): void {
  const { db, now } = site;
  const base = "/teams/:team/audit";
  guards.member.get(base, (visit) => auditPage(site, visit));
  guards.script(`${base}/lines`, async ({ exchange, team }) => {
    if (exchange.method !== "GET" && exchange.method !== "HEAD") return refuseMethod(exchange, "GET, HEAD");
    let text = "";
    for await (const lines of auditLines(db, team.id)) text += lines;
    const name = `audit-${new Date(now()).toISOString().slice(0, 10)}.jsonl`;
    const headers = { "content-disposition": `attachment; filename="${name}"`, "x-content-type-options": "nosniff" };
    exchange.send(200, "application/x-ndjson; charset=utf-8", text, headers);
  });
  guards.member.change(
    base,
    async (visit) => {
      const { team, session, form } = visit;
      const days = Number(form("days"));
      if (!Number.isSafeInteger(days) || days < LEAST_DAYS || days > MAX_DAYS)
        throw new UserError(
          `days: got ${form("days").slice(0, 20)}, expected ${LEAST_DAYS} to ${MAX_DAYS}`,
          400,
          `Enter a number of days from ${LEAST_DAYS} on.`,
        );
      const count = await db.write(async (tx) => {
        await requireAdmin(tx, team.id, session.user.id);
        return deleteAudit(tx, now(), session.user.email, team.id, now() - days * DAY_MS);
      });
      const text = `Deleted ${countText(count, "row")}.`;
      return redirect(sayAt(session, `/teams/${team.id}/audit`, { text }));
    },
    (visit, problem) => auditPage(site, visit, problem),
  );
}

function viewOf({ exchange }: Member): View {
  const query = new URLSearchParams(exchange.search);
  const kind = query.get("kind") ?? "";
  return {
    kind: KINDS.some(([value]) => value === kind) ? kind : "",
    subject: (query.get("subject") ?? "").trim().slice(0, 100),
    before: query.get("before")?.slice(0, 64) ?? undefined,
  };
}

function queryOf({ kind, subject, before }: View): string {
  const query = new URLSearchParams();
  if (kind !== "") query.set("kind", kind);
  if (subject !== "") query.set("subject", subject);
  if (before !== undefined) query.set("before", before);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

async function auditPage({ db }: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { team, session } = visit;
  const view = viewOf(visit);
  const base = `/teams/${team.id}/audit`;
  const filter = { action: view.kind, subject: view.subject, before: view.before };
  const rows = await findAudit(db, team.id, filter, ROWS_A_PAGE + 1);
  const shown = rows.slice(0, ROWS_A_PAGE);
  const csrf = csrfOf(session);
  return show(
    frameOf(visit, "Audit", "audit"),
    <>
      <Notices visit={visit} problem={problem} />
      <form method="get" action={base} role="search" class="line tools">
        <div>
          <label for="subject">Search by name, id or person</label>
          <input id="subject" name="subject" type="search" maxlength={100} autocomplete="off" value={view.subject} />
        </div>
        <div>
          <label for="kind">About</label>
          <select id="kind" name="kind">
            {KINDS.map(([value, text]) => (
              <option value={value} selected={value === view.kind}>
                {text}
              </option>
            ))}
          </select>
        </div>
        <button type="submit">Show</button>
      </form>
      <p class="actions">
        <a href={`${base}/lines`}>All rows as a file of JSON lines</a>
      </p>
      {shown.length === 0 ? <p class="count">No rows match.</p> : <Rows rows={shown} />}
      {rows.length > ROWS_A_PAGE && (
        <nav class="pages" aria-label="Pages of the audit">
          <a href={base + queryOf({ ...view, before: shown.at(-1)!.id })} rel="next">
            Older rows
          </a>
        </nav>
      )}
      {team.role === "admin" && (
        <>
          <h2>Delete old rows</h2>
          <form method="post" action={base} class="line">
            <Csrf value={csrf} />
            <div>
              <label for="days">Older than so many days</label>
              <input id="days" name="days" type="number" min={LEAST_DAYS} max={MAX_DAYS} required value="365" />
            </div>
            <button type="submit">Delete old rows</button>
          </form>
          <p class="soft">Rows that say who got or lost access stay: a restore of a backup reads them.</p>
        </>
      )}
    </>,
    problem?.status ?? 200,
  );
}

function Rows({ rows }: { rows: readonly AuditRow[] }) {
  return (
    <ul class="list audit" aria-label="Audit">
      {rows.map(({ at, actor, action, subject }) => (
        <li>
          <div class="what">
            <span>
              <strong>{action.replace(/[._]/g, " ")}</strong> <Breakable text={subject} />
            </span>
            <span class="soft">
              <Breakable text={actor} />
            </span>
          </div>
          <time class="soft" datetime={new Date(at).toISOString()}>
            {new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC
          </time>
        </li>
      ))}
    </ul>
  );
}
