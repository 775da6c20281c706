/** The audit of a team: who changed what, the newest change first. Also deletes old rows. */
import type { Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { auditLines, deleteAudit, findAudit, type AuditRow } from "../nouns/audit.ts";
import { targetNames } from "../nouns/target.ts";
import { requireAdmin } from "../nouns/team.ts";
import { countText } from "./ago.tsx";
import type { Answer } from "./answer.tsx";
import { Field, PostForm, Select, Submit } from "./forms.tsx";
import { changeOf, queryOf, queryText, showPage, type Guards, type Member } from "./guards.tsx";
import { Breakable, List } from "./layout.tsx";
import { refuseMethod } from "../http/refusals.ts";
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
  ["rollout.", "roll-outs"],
  ["model.", "model files"],
  ["alert", "alerts"],
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
  const form = guards.page(base, (visit, problem) => auditPage(site, visit, problem));
  guards.script(`${base}/lines`, async ({ exchange, team }) => {
    if (exchange.method !== "GET" && exchange.method !== "HEAD") return refuseMethod(exchange, "GET, HEAD");
    let text = "";
    for await (const lines of auditLines(db, team.id)) text += lines;
    const name = `audit-${new Date(now()).toISOString().slice(0, 10)}.jsonl`;
    const headers = { "content-disposition": `attachment; filename="${name}"`, "x-content-type-options": "nosniff" };
    exchange.send(200, "application/x-ndjson; charset=utf-8", text, headers);
  });
  form(base, async (visit) => {
    const { team, session, form: field } = visit;
    const days = Number(field("days"));
    if (!Number.isSafeInteger(days) || days < LEAST_DAYS || days > MAX_DAYS)
      throw new UserError(
        `days: got ${field("days").slice(0, 20)}, expected ${LEAST_DAYS} to ${MAX_DAYS}`,
        400,
        `Enter a number of days from ${LEAST_DAYS} on.`,
      );
    const count = await db.write(async (tx) => {
      await requireAdmin(tx, team.id, session.user.id);
      return deleteAudit(tx, changeOf(site, visit), now() - days * DAY_MS);
    });
    return `Deleted ${countText(count, "row")}.`;
  });
}

function viewOf(visit: Member): View {
  const query = queryOf(visit);
  const kind = query.get("kind") ?? "";
  return {
    kind: KINDS.some(([value]) => value === kind) ? kind : "",
    subject: (query.get("subject") ?? "").trim().slice(0, 100),
    before: query.get("before")?.slice(0, 64) ?? undefined,
  };
}

async function auditPage({ db }: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { team } = visit;
  const view = viewOf(visit);
  const base = `/teams/${team.id}/audit`;
  const filter = { action: view.kind, subject: view.subject, before: view.before };
  const rows = await findAudit(db, team.id, filter, ROWS_A_PAGE + 1);
  const shown = await withNames(db, team.id, rows.slice(0, ROWS_A_PAGE));
  const older = queryText({ ...view, before: shown.at(-1)?.id });
  const days = { min: LEAST_DAYS, max: MAX_DAYS, required: true, value: "365" };
  const content = (
    <>
      <form method="get" action={base} role="search" class="line tools">
        <Field label="Search by name, id or person" name="subject" type="search" value={view.subject} />
        <Select label="About" name="kind" choices={KINDS} value={view.kind} />
        <button type="submit">Show</button>
      </form>
      <p class="actions">
        <a href={`${base}/lines`}>All rows as a file of JSON lines</a>
      </p>
      {shown.length === 0 ? <p class="count">No rows match.</p> : <Rows rows={shown} />}
      {rows.length > ROWS_A_PAGE && (
        <nav class="pages" aria-label="Pages of the audit">
          <a href={base + older} rel="next">
            Older rows
          </a>
        </nav>
      )}
      {team.role === "admin" && (
        <>
          <h2>Delete old rows</h2>
          <PostForm action={base} class="line">
            <Field {...{ label: "Older than so many days", name: "days", type: "number", ...days }} />
            <Submit>Delete old rows</Submit>
          </PostForm>
          <p class="soft">Rows that say who got or lost access stay: a restore of a backup reads them.</p>
        </>
      )}
    </>
  );
  return showPage(visit, ["Audit", "audit"], content, { problem });
}

/** Groups and devices in the text of a row. */
const TARGET = /\b(group|device) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g;

/** Returns rows that name groups and devices instead of giving their ids. What is gone keeps its id. */
async function withNames(db: Queries, teamId: string, rows: readonly AuditRow[]): Promise<readonly AuditRow[]> {
  const targets = rows.flatMap(({ actor, subject }) =>
    [...`${actor} ${subject}`.matchAll(TARGET)].map(([, kind, target_id]) => ({ kind: kind!, target_id: target_id! })),
  );
  const names = await targetNames(db, teamId, targets);
  const named = (text: string): string =>
    text.replace(TARGET, (all, kind: string, id: string) => {
      const name = names.get(`${kind}:${id}`);
      return name === undefined ? all : `${kind} ${name}`;
    });
  return rows.map((row) => ({ ...row, actor: named(row.actor), subject: named(row.subject) }));
}

function Rows({ rows }: { rows: readonly AuditRow[] }) {
  return (
    <List label="Audit" class="audit">
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
    </List>
  );
}
