/**
 * The schema, as numbered steps. A step that was released never changes: the next change gets the next number. SQLite
 * and PostgreSQL run the same statements.
 *
 * - `camera_starts` has a row for each start of an agent. Its sequence numbers begin anew.
 * - `frames_by_arrival` serves the deletion of old frames.
 * - `refused.count`: number of a sender's refusals that share the row.
 * - `hub_documents` has the keys and revoked devices that were last read from a hub.
 * - `seen` counts what was seen in each minute, for timelines and searches.
 * - `seen_waiting` has counts that are added to `seen` soon.
 * - `webhook_queue` has the waiting messages, and the dropped ones until they are sent again. `leases` names the host
 *   that sends them.
 */
import type { Migration } from "boxwright-service/migrate";

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "the first release",
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
CREATE INDEX frames_by_arrival ON frames (stored_at);
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
CREATE TABLE camera_starts (
  source ${text} NOT NULL,
  subject ${text} NOT NULL,
  start BIGINT NOT NULL,
  frames BIGINT NOT NULL,
  first_sequence BIGINT NOT NULL,
  last_sequence BIGINT NOT NULL,
  PRIMARY KEY (source, subject, start)
);
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
  message ${text} NOT NULL,
  count BIGINT NOT NULL DEFAULT 1
);
CREATE INDEX refused_by_time ON refused (at);
CREATE INDEX refused_of_place ON refused (place, at);
CREATE TABLE hub_documents (hub ${text} PRIMARY KEY, document ${text} NOT NULL, read_at BIGINT NOT NULL);
CREATE TABLE webhook_queue (
  hook ${text} NOT NULL,
  stored_at BIGINT NOT NULL,
  source ${text} NOT NULL,
  id ${text} NOT NULL,
  dropped_at BIGINT,
  reason ${text},
  PRIMARY KEY (hook, stored_at, source, id)
);
CREATE TABLE leases (name ${text} PRIMARY KEY, owner ${text} NOT NULL, until BIGINT NOT NULL);
CREATE TABLE device_names (source ${text} PRIMARY KEY, name ${text} NOT NULL);
`,
  },
  {
    version: 2,
    name: "what was seen",
    sql: (text) => `
CREATE TABLE seen (
  source ${text} NOT NULL,
  subject ${text} NOT NULL,
  minute ${text} NOT NULL,
  label ${text} NOT NULL,
  frames BIGINT NOT NULL,
  detections BIGINT NOT NULL,
  best DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (source, subject, minute, label)
);
CREATE INDEX seen_by_minute ON seen (minute, source, subject);
CREATE INDEX seen_by_label ON seen (label, minute);
`,
  },
  {
    version: 3,
    name: "counts that wait",
    sql: (text) => `CREATE TABLE seen_waiting (id ${text} PRIMARY KEY, counts ${text} NOT NULL)`,
  },
];
