/**
 * The schema, as numbered steps. A step that was released never changes: the next change gets the next number. Both
 * databases run the same statements. The type of text columns differs, so that both order text by bytes.
 */
import type { Migration } from "boxwright-service/migrate";

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
