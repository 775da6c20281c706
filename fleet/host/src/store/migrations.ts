/** Makes the schema in numbered steps. A released step never changes. Both databases run the same statements. */
import type { Database } from "./database.ts";
import { UserError } from "../core/errors.ts";

/** `text`: type of columns that hold text, so that both databases order by bytes. */
const STEPS: readonly ((text: string) => readonly string[])[] = [
  (text) => [
    `CREATE TABLE frames (
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
    )`,
    "CREATE INDEX frames_in_order ON frames (time, sequence, id, source)",
    "CREATE INDEX frames_of_camera ON frames (source, subject, time, sequence, id)",
    `CREATE TABLE cameras (
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
    )`,
    "CREATE INDEX cameras_by_time ON cameras (stored_at)",
    `CREATE TABLE configs (hash ${text} PRIMARY KEY, body ${text} NOT NULL, stored_at BIGINT NOT NULL)`,
    `CREATE TABLE refused (
      hash ${text} PRIMARY KEY,
      at BIGINT NOT NULL,
      way ${text} NOT NULL,
      place ${text} NOT NULL,
      bytes BIGINT NOT NULL,
      source ${text},
      id ${text},
      reason ${text} NOT NULL,
      message ${text} NOT NULL
    )`,
    "CREATE INDEX refused_by_time ON refused (at)",
  ],
  (text) => [
    // One row for each start of an agent: the sequence jumps at a start, and a jump is no gap.
    `CREATE TABLE camera_starts (
      source ${text} NOT NULL,
      subject ${text} NOT NULL,
      start BIGINT NOT NULL,
      frames BIGINT NOT NULL,
      first_sequence BIGINT NOT NULL,
      last_sequence BIGINT NOT NULL,
      PRIMARY KEY (source, subject, start)
    )`,
    // 4294967296 is SEQUENCES_PER_START of frames.ts.
    `INSERT INTO camera_starts (source, subject, start, frames, first_sequence, last_sequence)
      SELECT source, subject, sequence / 4294967296, count(*), min(sequence), max(sequence)
      FROM frames WHERE sequence >= 0 GROUP BY source, subject, sequence / 4294967296`,
  ],
  // Old frames are deleted by time of storing.
  () => ["CREATE INDEX frames_by_arrival ON frames (stored_at)"],
];

const MOST_TRIES = 20;

async function versionOf(db: Database): Promise<number> {
  const [row] = await db.all<{ version: number | null }>("SELECT max(version) AS version FROM schema_versions");
  return row?.version ?? 0;
}

/** Brings the schema up to date. Several hosts may do so at once. */
export async function migrate(db: Database): Promise<void> {
  const text = db.kind === "postgres" ? 'TEXT COLLATE "C"' : "TEXT";
  for (let attempt = 1; ; attempt++) {
    try {
      await db.write((tx) => tx.all("CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT PRIMARY KEY)"));
      const version = await versionOf(db);
      if (version > STEPS.length)
        throw new UserError(
          `got a database of schema version ${version}, expected at most ${STEPS.length}: this host is older than the one that made it`,
        );
      for (let next = version + 1; next <= STEPS.length; next++)
        await db.write(async (tx) => {
          // Insert first: if another host runs the same step, this transaction fails, and the loop begins again.
          await tx.all("INSERT INTO schema_versions (version) VALUES (?)", [next]);
          for (const sql of STEPS[next - 1]!(text)) await tx.all(sql);
        });
      return;
    } catch (error) {
      if (attempt >= MOST_TRIES || error instanceof UserError || !/unique|already exists/i.test(String(error)))
        throw error;
    }
  }
}
