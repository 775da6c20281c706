/**
 * The schema, as numbered steps. A step that was released never changes: the next change gets the next number. Both
 * databases run the same statements. The type of text columns differs, so that both order text by bytes.
 */
import type { Database } from "./database.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Returns the statements. `text` is the type of columns that hold text. */
  readonly sql: (text: string) => string;
}

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "teams, users, devices, keys, sessions, links, audit",
    sql: (text) => `
CREATE TABLE teams (
  id ${text} PRIMARY KEY,
  name ${text} NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE TABLE users (
  id ${text} PRIMARY KEY,
  email ${text} NOT NULL UNIQUE,
  password ${text} NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE TABLE members (
  team_id ${text} NOT NULL REFERENCES teams (id),
  user_id ${text} NOT NULL REFERENCES users (id),
  role ${text} NOT NULL CHECK (role IN ('admin', 'member')),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (team_id, user_id)
);
CREATE INDEX members_of_user ON members (user_id);
CREATE TABLE devices (
  team_id ${text} NOT NULL REFERENCES teams (id),
  id ${text} NOT NULL,
  name ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (team_id, id)
);
CREATE TABLE api_keys (
  id ${text} PRIMARY KEY,
  team_id ${text} NOT NULL REFERENCES teams (id),
  hash ${text} NOT NULL,
  form ${text} NOT NULL UNIQUE,
  created_by ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT,
  revoked_at BIGINT
);
CREATE TABLE sessions (
  hash ${text} PRIMARY KEY,
  user_id ${text} NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE TABLE links (
  hash ${text} PRIMARY KEY,
  purpose ${text} NOT NULL CHECK (purpose IN ('invite', 'reset')),
  email ${text} NOT NULL,
  team_id ${text} REFERENCES teams (id),
  role ${text},
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);
CREATE TABLE audit (
  id ${text} PRIMARY KEY,
  at BIGINT NOT NULL,
  actor ${text} NOT NULL,
  action ${text} NOT NULL,
  team_id ${text},
  subject ${text} NOT NULL
);
CREATE INDEX audit_of_team ON audit (team_id, id);
`,
  },
  {
    version: 2,
    name: "who invited",
    // The audit tells who made the invitations that are open now. The operator is no user and stays NULL.
    sql: (text) => `
ALTER TABLE links ADD COLUMN created_by ${text};
UPDATE links SET created_by = (
  SELECT u.id FROM audit a JOIN users u ON u.email = a.actor
  WHERE a.action = 'invite.created' AND a.team_id = links.team_id AND a.at = links.created_at AND a.subject = links.email || ' ' || links.role
  ORDER BY a.id LIMIT 1
) WHERE purpose = 'invite';
`,
  },
];

export const schemaVersion = migrations.at(-1)!.version;

/**
 * Brings the schema up to date, all or nothing. Returns how many steps ran. Any number of processes may call it at
 * once.
 */
export async function migrate(
  db: Database,
  now: () => number = Date.now,
  steps: readonly Migration[] = migrations,
): Promise<number> {
  const text = db.kind === "postgres" ? 'TEXT COLLATE "C"' : "TEXT";
  let applied = 0;
  await db.migrate(async (tx) => {
    applied = 0;
    await tx.script(
      `CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name ${text} NOT NULL, applied_at BIGINT NOT NULL)`,
    );
    const [row] = await tx.all<{ version: number | null }>("SELECT max(version) AS version FROM schema_migrations");
    const current = row?.version ?? 0;
    const newest = steps.at(-1)?.version ?? 0;
    if (current > newest) {
      throw new Error(
        `got a database of schema version ${current}, expected at most ${newest}: this hub is older than the one that made it`,
      );
    }
    for (const step of steps) {
      if (step.version <= current) continue;
      await tx.script(step.sql(text));
      await tx.all("INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)", [
        step.version,
        step.name,
        now(),
      ]);
      applied++;
    }
  });
  return applied;
}

/** Returns the version of the schema in the database. */
export async function databaseVersion(db: Database): Promise<number> {
  const [row] = await db.all<{ version: number | null }>("SELECT max(version) AS version FROM schema_migrations");
  return row?.version ?? 0;
}
