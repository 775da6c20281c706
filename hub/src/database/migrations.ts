/**
 * The schema, as numbered steps. A step that has been released is never changed: the next change is the next number.
 * One text serves both databases; `TEXT` becomes `TEXT COLLATE "C"` on PostgreSQL, so that both order by bytes.
 */
import type { Database } from "./database.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "teams, users, devices, keys, sessions, links, audit",
    sql: `
CREATE TABLE teams (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE TABLE members (
  team_id TEXT NOT NULL REFERENCES teams (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (team_id, user_id)
);
CREATE INDEX members_of_user ON members (user_id);
CREATE TABLE devices (
  team_id TEXT NOT NULL REFERENCES teams (id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (team_id, id)
);
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  team_id TEXT NOT NULL REFERENCES teams (id),
  hash TEXT NOT NULL,
  form TEXT NOT NULL UNIQUE,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT,
  revoked_at BIGINT
);
CREATE TABLE sessions (
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE TABLE links (
  hash TEXT PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('invite', 'reset')),
  email TEXT NOT NULL,
  team_id TEXT REFERENCES teams (id),
  role TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);
CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  team_id TEXT,
  subject TEXT NOT NULL
);
CREATE INDEX audit_of_team ON audit (team_id, id);
`,
  },
  {
    version: 2,
    name: "who invited",
    // Of invitations that are open at that moment the audit tells who made them; the operator is no user and stays NULL.
    sql: `
ALTER TABLE links ADD COLUMN created_by TEXT;
UPDATE links SET created_by = (
  SELECT u.id FROM audit a JOIN users u ON u.email = a.actor
  WHERE a.action = 'invite.created' AND a.team_id = links.team_id AND a.at = links.created_at AND a.subject = links.email || ' ' || links.role
  ORDER BY a.id LIMIT 1
) WHERE purpose = 'invite';
`,
  },
];

export const schemaVersion = migrations.at(-1)!.version;

/** Brings the schema up to date. Safe to call from any number of processes at once; all or nothing. */
export async function migrate(db: Database, now: () => number = Date.now, steps: readonly Migration[] = migrations): Promise<number> {
  const dialect = (sql: string): string => (db.kind === "postgres" ? sql.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"') : sql);
  let applied = 0;
  await db.migrate(async (tx) => {
    applied = 0;
    await tx.script(dialect("CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)"));
    const [row] = await tx.all<{ version: number | null }>("SELECT max(version) AS version FROM schema_migrations");
    const current = row?.version ?? 0;
    const newest = steps.at(-1)?.version ?? 0;
    if (current > newest) {
      throw new Error(`got a database of schema version ${current}, expected at most ${newest}: this hub is older than the one that made it`);
    }
    for (const step of steps) {
      if (step.version <= current) continue;
      await tx.script(dialect(step.sql));
      await tx.all("INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)", [step.version, step.name, now()]);
      applied++;
    }
  });
  return applied;
}

/** The version the database stands at, for readiness. */
export async function databaseVersion(db: Database): Promise<number> {
  const [row] = await db.all<{ version: number | null }>("SELECT max(version) AS version FROM schema_migrations");
  return row?.version ?? 0;
}
