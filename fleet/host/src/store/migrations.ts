/** The schema, as numbered steps. A released step never changes. Both databases run the same statements. */
import type { Migration } from "boxwright-service/migrate";

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "frames, cameras, configs, refused",
    sql: (text) => `
CREATE TABLE frames (
  source ${text} NOT NULL,
  id ${text} NOT NULL,
  subject ${text} NOT NULL,
  time ${text} NOT NULL,
  sequence BIGINT NOT NULL,
  config ${text},
  kind ${text} NOT NULL,
  frame ${text},
  count BIGINT NOT NULL,
  detections ${text} NOT NULL,
  stored_at BIGINT NOT NULL,
  PRIMARY KEY (source, id)
);
CREATE INDEX frames_in_order ON frames (time, sequence, id, source);
CREATE INDEX frames_of_camera ON frames (source, subject, time, sequence, id);
CREATE TABLE cameras (
  source ${text} NOT NULL,
  subject ${text} NOT NULL,
  frames BIGINT NOT NULL,
  detections BIGINT NOT NULL,
  numbered BIGINT NOT NULL,
  first_sequence BIGINT,
  last_sequence BIGINT,
  last_time ${text} NOT NULL,
  last_id ${text} NOT NULL,
  latency BIGINT NOT NULL,
  stored_at BIGINT NOT NULL,
  PRIMARY KEY (source, subject)
);
CREATE INDEX cameras_by_time ON cameras (stored_at);
CREATE TABLE configs (hash ${text} PRIMARY KEY, body ${text} NOT NULL, stored_at BIGINT NOT NULL);
CREATE TABLE refused (
  hash ${text} PRIMARY KEY,
  at BIGINT NOT NULL,
  way ${text} NOT NULL,
  place ${text} NOT NULL,
  bytes BIGINT NOT NULL,
  source ${text},
  id ${text},
  reason ${text} NOT NULL,
  message ${text} NOT NULL
);
CREATE INDEX refused_by_time ON refused (at);
`,
  },
  {
    version: 2,
    name: "starts of a camera",
    // One row for each start of an agent: the sequence jumps at a start, and a jump is no gap.
    // 4294967296 is SEQUENCES_PER_START of frames.ts.
    sql: (text) => `
CREATE TABLE camera_starts (
  source ${text} NOT NULL,
  subject ${text} NOT NULL,
  start BIGINT NOT NULL,
  frames BIGINT NOT NULL,
  first_sequence BIGINT NOT NULL,
  last_sequence BIGINT NOT NULL,
  PRIMARY KEY (source, subject, start)
);
INSERT INTO camera_starts (source, subject, start, frames, first_sequence, last_sequence)
  SELECT source, subject, sequence / 4294967296, count(*), min(sequence), max(sequence)
  FROM frames WHERE sequence >= 0 GROUP BY source, subject, sequence / 4294967296;
`,
  },
  {
    version: 3,
    name: "frames by time of storing, by which they are deleted",
    sql: () => "CREATE INDEX frames_by_arrival ON frames (stored_at)",
  },
  {
    version: 4,
    name: "keys and revoked devices of a hub, as read last",
    sql: (text) =>
      `CREATE TABLE hub_documents (hub ${text} PRIMARY KEY, document ${text} NOT NULL, read_at BIGINT NOT NULL)`,
  },
  {
    version: 5,
    name: "refusals of a sender that share a row",
    sql: () => `
ALTER TABLE refused ADD COLUMN count BIGINT NOT NULL DEFAULT 1;
CREATE INDEX refused_of_place ON refused (place, at);
`,
  },
  {
    version: 6,
    name: "messages to webhooks that wait, and the host that sends them",
    sql: (text) => `
CREATE TABLE webhook_queue (
  hook ${text} NOT NULL,
  stored_at BIGINT NOT NULL,
  source ${text} NOT NULL,
  id ${text} NOT NULL,
  PRIMARY KEY (hook, stored_at, source, id)
);
CREATE TABLE webhook_owners (hook ${text} PRIMARY KEY, owner ${text} NOT NULL, until BIGINT NOT NULL);
`,
  },
  {
    version: 7,
    name: "names of devices",
    sql: (text) => `CREATE TABLE device_names (source ${text} PRIMARY KEY, name ${text} NOT NULL)`,
  },
  {
    version: 8,
    name: "messages to webhooks that were dropped, until they are sent again",
    sql: (text) => `
ALTER TABLE webhook_queue ADD COLUMN dropped_at BIGINT;
ALTER TABLE webhook_queue ADD COLUMN reason ${text};
`,
  },
];

/** Hosts wrote their versions into a table of their own until the services got one base. */
export const OLD_VERSIONS = `
CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT PRIMARY KEY);
INSERT INTO schema_migrations (version, name, applied_at)
  SELECT version, 'before', 0 FROM schema_versions WHERE version NOT IN (SELECT version FROM schema_migrations);
DROP TABLE schema_versions;
`;
