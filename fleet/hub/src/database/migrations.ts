/**
 * The schema, as numbered steps. A step that was released never changes: the next change gets the next number. Both
 * databases run the same statements. The type of text columns differs, so that both order text by bytes.
 */
import type { Migration } from "boxwright-service/migrate";

/**
 * Rows of a device name it without a foreign key: they outlive its removal by a day, so that "Undo" brings back the
 * same device. `device_id` of a device with an identity is unique in the hub: tokens and packets carry it alone.
 */
const devicesWithIdentity = (text: string): string => `
CREATE TABLE device_states (
  team_id ${text} NOT NULL,
  device_id ${text} NOT NULL UNIQUE,
  enrolled_at BIGINT NOT NULL,
  enrolled_by ${text} NOT NULL,
  serial_number ${text},
  model ${text} NOT NULL,
  architecture ${text} NOT NULL,
  version ${text} NOT NULL,
  last_contact_at BIGINT,
  online_since BIGINT,
  counter BIGINT NOT NULL,
  process_id ${text},
  previous_process_id ${text},
  conflict_at BIGINT,
  clock_difference BIGINT,
  host_url ${text},
  application ${text},
  application_version ${text},
  application_state ${text} NOT NULL,
  report ${text},
  hour BIGINT,
  contacts BIGINT NOT NULL,
  restarts BIGINT NOT NULL,
  worst_p99 DOUBLE PRECISION,
  drops BIGINT NOT NULL,
  snap_requested_at BIGINT,
  PRIMARY KEY (team_id, device_id)
);
CREATE TABLE device_hours (
  team_id ${text} NOT NULL,
  device_id ${text} NOT NULL,
  hour BIGINT NOT NULL,
  contacts BIGINT NOT NULL,
  restarts BIGINT NOT NULL,
  worst_p99 DOUBLE PRECISION,
  drops BIGINT NOT NULL,
  PRIMARY KEY (team_id, device_id, hour)
);
CREATE INDEX device_hours_by_age ON device_hours (hour);
CREATE TABLE device_credentials (
  id ${text} PRIMARY KEY,
  team_id ${text} NOT NULL,
  device_id ${text} NOT NULL,
  hash ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  used_at BIGINT
);
CREATE INDEX device_credentials_of_device ON device_credentials (team_id, device_id);
CREATE TABLE device_revocations (
  device_id ${text} PRIMARY KEY,
  before BIGINT NOT NULL
);
`;

const groupsAndAdoptKeys = (text: string): string => `
CREATE TABLE removed_devices (
  team_id ${text} NOT NULL,
  device_id ${text} NOT NULL,
  removed_at BIGINT NOT NULL,
  PRIMARY KEY (team_id, device_id)
);
CREATE TABLE device_groups (
  id ${text} PRIMARY KEY,
  team_id ${text} NOT NULL REFERENCES teams (id),
  name ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (team_id, name)
);
CREATE TABLE device_group_members (
  team_id ${text} NOT NULL,
  group_id ${text} NOT NULL REFERENCES device_groups (id),
  device_id ${text} NOT NULL,
  PRIMARY KEY (team_id, group_id, device_id)
);
CREATE INDEX device_group_members_of_device ON device_group_members (team_id, device_id);
CREATE TABLE adopt_keys (
  id ${text} PRIMARY KEY,
  team_id ${text} NOT NULL REFERENCES teams (id),
  hash ${text} NOT NULL,
  form ${text} NOT NULL UNIQUE,
  name ${text} NOT NULL,
  device_id ${text},
  created_by ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  max_devices BIGINT NOT NULL,
  used BIGINT NOT NULL,
  last_used_at BIGINT,
  revoked_at BIGINT
);
CREATE INDEX adopt_keys_of_team ON adopt_keys (team_id, id);
CREATE TABLE adopt_key_groups (
  adopt_key_id ${text} NOT NULL REFERENCES adopt_keys (id),
  group_id ${text} NOT NULL,
  PRIMARY KEY (adopt_key_id, group_id)
);
CREATE TABLE signing_keys (
  id ${text} PRIMARY KEY,
  private_key ${text} NOT NULL,
  public_key ${text} NOT NULL,
  created_at BIGINT NOT NULL
);
`;

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
  {
    version: 3,
    name: "devices with an identity, adopt keys, groups",
    sql: (text) => devicesWithIdentity(text) + groupsAndAdoptKeys(text),
  },
];

export const schemaVersion = migrations.at(-1)!.version;
