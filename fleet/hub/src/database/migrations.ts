/**
 * The schema, as numbered steps. A step that was released never changes: the next change gets the next number. Both
 * databases run the same statements. Only the type of text columns differs, so that both databases order text by bytes.
 */
import type { Migration } from "boxwright-service/migrate";
import { alerts } from "./alerts.ts";

/** `created_by` of a link is NULL if the operator made the link. */
const peopleAndKeys = (text: string): string => `
CREATE TABLE teams (
  id ${text} PRIMARY KEY,
  name ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  returns_until BIGINT
);
CREATE TABLE users (
  id ${text} PRIMARY KEY,
  email ${text} NOT NULL UNIQUE,
  password ${text} NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE TABLE identities (
  issuer ${text} NOT NULL,
  subject ${text} NOT NULL,
  user_id ${text} NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_of_user ON identities (user_id);
CREATE TABLE members (
  team_id ${text} NOT NULL REFERENCES teams (id),
  user_id ${text} NOT NULL REFERENCES users (id),
  role ${text} NOT NULL CHECK (role IN ('admin', 'member', 'viewer')),
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
  revoked_at BIGINT,
  name ${text} NOT NULL,
  scopes ${text} NOT NULL,
  expires_at BIGINT,
  replaced_by ${text}
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
  used_at BIGINT,
  created_by ${text}
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
CREATE INDEX audit_by_age ON audit (at);
`;

/**
 * Rows about a device hold its id without a foreign key: they stay for a day after the device is removed, so that
 * "Undo" restores the same device. `device_id` of an enrolled device is unique in the hub, since tokens and packets
 * carry no other id.
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
  log_requested_at BIGINT,
  application_error ${text},
  token_at BIGINT,
  revoked_at BIGINT,
  frames_at BIGINT,
  spool_percent BIGINT,
  paused_at BIGINT,
  beat_seconds BIGINT NOT NULL DEFAULT 30,
  public_key ${text},
  return_challenge ${text},
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
CREATE TABLE device_logs (
  team_id ${text} NOT NULL,
  device_id ${text} NOT NULL,
  id ${text} NOT NULL,
  received_at BIGINT NOT NULL,
  reason ${text} NOT NULL CHECK (reason IN ('requested', 'failed')),
  body ${text} NOT NULL,
  PRIMARY KEY (team_id, device_id, id)
);
CREATE INDEX device_logs_by_age ON device_logs (received_at);
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
  name ${text} NOT NULL,
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
CREATE INDEX device_group_members_of_device ON device_group_members (team_id, device_id, group_id);
CREATE TABLE device_tags (
  team_id ${text} NOT NULL,
  device_id ${text} NOT NULL,
  tag ${text} NOT NULL,
  PRIMARY KEY (team_id, device_id, tag)
);
CREATE INDEX device_tags_by_tag ON device_tags (team_id, tag, device_id);
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

/**
 * `purpose` says what an application configures: the network of a device, or its agent. A device has one assignment and
 * its own reports for each purpose.
 */
const applications = (text: string): string => `
CREATE TABLE team_changes (
  team_id ${text} PRIMARY KEY,
  count BIGINT NOT NULL
);
CREATE TABLE apps (
  team_id ${text} NOT NULL REFERENCES teams (id),
  id ${text} NOT NULL,
  identifier ${text} NOT NULL,
  name ${text} NOT NULL,
  tags ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  newest BIGINT NOT NULL,
  purpose ${text} NOT NULL CHECK (purpose IN ('network', 'agent')),
  PRIMARY KEY (team_id, id),
  UNIQUE (team_id, identifier)
);
CREATE TABLE models (
  team_id ${text} NOT NULL REFERENCES teams (id),
  sha256 ${text} NOT NULL,
  size BIGINT NOT NULL,
  name ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  complete_at BIGINT,
  PRIMARY KEY (team_id, sha256)
);
CREATE TABLE app_versions (
  team_id ${text} NOT NULL,
  app_id ${text} NOT NULL,
  number BIGINT NOT NULL,
  hash ${text} NOT NULL,
  content ${text} NOT NULL,
  model_sha256 ${text},
  description ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  created_by ${text} NOT NULL,
  PRIMARY KEY (team_id, app_id, number),
  UNIQUE (team_id, app_id, hash),
  FOREIGN KEY (team_id, app_id) REFERENCES apps (team_id, id)
);
CREATE INDEX app_versions_of_model ON app_versions (team_id, model_sha256);
CREATE TABLE assignments (
  team_id ${text} NOT NULL,
  kind ${text} NOT NULL CHECK (kind IN ('device', 'group', 'tag')),
  target_id ${text} NOT NULL,
  app_id ${text} NOT NULL,
  version BIGINT,
  next_version BIGINT,
  share BIGINT,
  rollout_id ${text},
  rollout_state ${text} CHECK (rollout_state IN ('running', 'stopped')),
  revision BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  changed_by ${text} NOT NULL,
  failure_limit BIGINT,
  purpose ${text} NOT NULL,
  gates ${text},
  step_at BIGINT,
  shadow ${text},
  PRIMARY KEY (team_id, kind, target_id, purpose),
  FOREIGN KEY (team_id, app_id) REFERENCES apps (team_id, id)
);
CREATE INDEX assignments_of_app ON assignments (team_id, app_id);
CREATE INDEX assignments_with_gates ON assignments (rollout_state) WHERE gates IS NOT NULL;
CREATE TABLE app_reports (
  team_id ${text} NOT NULL,
  device_id ${text} NOT NULL,
  app_id ${text} NOT NULL,
  version BIGINT NOT NULL,
  state ${text} NOT NULL CHECK (state IN ('applied', 'failed')),
  code ${text} NOT NULL,
  message ${text} NOT NULL,
  at BIGINT NOT NULL,
  purpose ${text} NOT NULL,
  PRIMARY KEY (team_id, device_id, app_id, version)
);
CREATE INDEX app_reports_of_app ON app_reports (team_id, app_id, version, device_id, state);
CREATE INDEX app_reports_of_device ON app_reports (team_id, device_id, at);
`;

/** Reports of devices on versions that they decode in shadow. */
const shadows = (text: string): string => `
CREATE TABLE shadow_reports (
  team_id ${text} NOT NULL,
  rollout_id ${text} NOT NULL,
  device_id ${text} NOT NULL,
  at BIGINT NOT NULL,
  state ${text} NOT NULL CHECK (state IN ('comparing', 'failed', 'refused')),
  message ${text} NOT NULL,
  report ${text},
  PRIMARY KEY (team_id, rollout_id, device_id)
);
CREATE INDEX shadow_reports_by_time ON shadow_reports (at);
CREATE INDEX shadow_reports_of_device ON shadow_reports (team_id, device_id);
`;

/** Without the index `snaps_by_bytes`, counting the bytes of a team would read all events of its snaps. */
const snaps = (text: string): string => `
CREATE TABLE snaps (
  team_id ${text} NOT NULL,
  id ${text} NOT NULL,
  device_id ${text} NOT NULL,
  device_snap_id ${text} NOT NULL,
  digest ${text} NOT NULL,
  name ${text} NOT NULL,
  app_identifier ${text},
  event ${text} NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  received_at BIGINT NOT NULL,
  complete_at BIGINT,
  PRIMARY KEY (team_id, id),
  UNIQUE (team_id, device_id, device_snap_id)
);
CREATE INDEX snaps_by_time ON snaps (team_id, created_at, id);
CREATE INDEX snaps_by_device ON snaps (team_id, device_id, created_at, id);
CREATE INDEX snaps_by_arrival ON snaps (team_id, device_id, received_at);
CREATE INDEX snaps_by_bytes ON snaps (team_id, device_id, bytes);
CREATE INDEX snaps_by_name ON snaps (team_id, name, created_at, id);
CREATE INDEX snaps_by_app ON snaps (team_id, app_identifier, created_at, id);
CREATE TABLE snap_files (
  team_id ${text} NOT NULL,
  snap_id ${text} NOT NULL,
  id ${text} NOT NULL,
  name ${text} NOT NULL,
  size BIGINT NOT NULL,
  sha256 ${text} NOT NULL,
  content_type ${text} NOT NULL,
  classification ${text} NOT NULL,
  PRIMARY KEY (team_id, id),
  FOREIGN KEY (team_id, snap_id) REFERENCES snaps (team_id, id)
);
CREATE INDEX snap_files_of_snap ON snap_files (team_id, snap_id);
CREATE INDEX snap_files_by_hash ON snap_files (team_id, sha256);
CREATE INDEX snap_files_by_class ON snap_files (team_id, classification, snap_id);
CREATE TABLE snap_tags (
  team_id ${text} NOT NULL,
  snap_id ${text} NOT NULL,
  tag ${text} NOT NULL,
  PRIMARY KEY (team_id, tag, snap_id),
  FOREIGN KEY (team_id, snap_id) REFERENCES snaps (team_id, id)
);
CREATE INDEX snap_tags_of_snap ON snap_tags (team_id, snap_id);
CREATE TABLE snap_extras (
  team_id ${text} NOT NULL,
  snap_id ${text} NOT NULL,
  key ${text} NOT NULL,
  value ${text} NOT NULL,
  PRIMARY KEY (team_id, key, value, snap_id),
  FOREIGN KEY (team_id, snap_id) REFERENCES snaps (team_id, id)
);
CREATE INDEX snap_extras_of_snap ON snap_extras (team_id, snap_id);
`;

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "the first release",
    sql: (text) =>
      [peopleAndKeys, devicesWithIdentity, groupsAndAdoptKeys, applications, shadows, snaps, alerts]
        .map((part) => part(text))
        .join(""),
  },
];

export const schemaVersion = migrations.at(-1)!.version;
