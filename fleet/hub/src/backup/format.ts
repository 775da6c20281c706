/**
 * Backups: gzipped JSON lines, one row a line, read in one snapshot while the hub runs. Both databases use one format,
 * so a backup also moves a hub from SQLite to PostgreSQL or back.
 *
 *     {"format":"boxwright-hub-backup","schema":1,"at":...}
 *     {"table":"teams","row":{...}}
 *     ...
 *     {"end":true,"rows":123}
 *
 * Sessions, one-time links, adopt keys and device credentials are left out: restoring them could bring back revoked
 * access. Snaps and model files are left out too, since they are large files. A restore leaves the existing files in
 * place.
 */
import type { Value } from "boxwright-service/database";

export const FORMAT = "boxwright-hub-backup";
/** Tables, each after the tables that it refers to. A backup holds their rows in the order of `key`. */
export const tables = [
  { name: "teams", columns: ["id", "name", "created_at"], key: ["id"] },
  { name: "users", columns: ["id", "email", "password", "created_at"], key: ["id"] },
  { name: "identities", columns: ["issuer", "subject", "user_id", "created_at"], key: ["issuer", "subject"] },
  { name: "members", columns: ["team_id", "user_id", "role", "created_at"], key: ["team_id", "user_id"] },
  { name: "devices", columns: ["team_id", "id", "name", "created_at"], key: ["team_id", "id"] },
  {
    // Only the identity of a device, and its pause. The public key lets the device come back after a restore, since a
    // backup has no credentials.
    name: "device_states",
    columns: [
      ...["team_id", "device_id", "enrolled_at", "enrolled_by", "serial_number", "model", "architecture", "version"],
      ...["counter", "application", "application_version", "application_state", "application_error", "contacts"],
      ...["restarts", "drops", "revoked_at", "paused_at", "public_key"],
    ],
    key: ["team_id", "device_id"],
  },
  {
    name: "api_keys",
    columns: [
      ...["id", "team_id", "hash", "form", "created_by", "created_at", "last_used_at", "revoked_at"],
      ...["name", "scopes", "expires_at", "replaced_by"],
    ],
    key: ["id"],
  },
  { name: "device_groups", columns: ["id", "team_id", "name", "created_at"], key: ["id"] },
  {
    name: "device_group_members",
    columns: ["team_id", "group_id", "device_id"],
    key: ["team_id", "group_id", "device_id"],
  },
  {
    name: "device_tags",
    columns: ["team_id", "device_id", "tag"],
    key: ["team_id", "device_id", "tag"],
  },
  {
    name: "apps",
    columns: ["team_id", "id", "identifier", "name", "tags", "created_at", "updated_at", "newest", "purpose"],
    key: ["team_id", "id"],
  },
  {
    name: "app_versions",
    columns: [
      ...["team_id", "app_id", "number", "hash", "content", "model_sha256", "description", "created_at"],
      "created_by",
    ],
    key: ["team_id", "app_id", "hash"],
  },
  {
    name: "assignments",
    columns: [
      ...["team_id", "kind", "target_id", "app_id", "version", "next_version", "share", "rollout_id", "rollout_state"],
      ...["revision", "changed_at", "changed_by", "failure_limit", "purpose", "gates", "step_at"],
      "shadow",
    ],
    key: ["team_id", "kind", "target_id", "purpose"],
  },
  {
    name: "alert_channels",
    columns: ["id", "team_id", "name", "kind", "address", "secret", "created_by", "created_at"],
    key: ["id"],
  },
  {
    name: "alert_rules",
    columns: [
      ...["id", "team_id", "name", "kind", "threshold", "group_id", "tag", "channel_id"],
      "created_by",
      "created_at",
    ],
    key: ["id"],
  },
  { name: "audit", columns: ["id", "at", "actor", "action", "team_id", "subject"], key: ["id"] },
] as const;
/** Tables that are not in a backup. A restore empties these tables. */
export const LEFT_OUT = [
  ...["sessions", "links", "adopt_key_groups", "adopt_keys"],
  ...["device_hours", "device_credentials", "device_logs", "removed_devices"],
  ...["app_reports", "shadow_reports", "alerts", "alert_messages", "alert_silences"],
] as const;

/** Text about what a backup does not hold. */
export const NOT_IN_BACKUP = [
  ...["sessions", "one-time links", "adopt keys", "credentials, history and logs of devices"],
  ...["snaps", "model files"],
] as const;

export type Table = (typeof tables)[number];
export type Row = Readonly<Record<string, Value>>;
