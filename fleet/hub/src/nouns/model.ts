/**
 * Model files of a team. A file's row is written before its first byte arrives, so that its bytes count in the quota.
 */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import type { Files } from "../files/files.ts";
import { audit, type Change } from "./audit.ts";
import { cleanName } from "./text.ts";

export interface ModelFile {
  readonly sha256: string;
  readonly size: number;
  readonly name: string;
  readonly created_at: number;
  /** Time at which the last byte arrived; null before that. */
  readonly complete_at: number | null;
}

export interface ModelLimits {
  /** Largest number of bytes of one file. */
  readonly modelBytes: number;
  /** Largest number of bytes of all model files of a team. */
  readonly teamModelBytes: number;
}

const COLUMNS = "sha256, size, name, created_at, complete_at";

/** Returns the complete model files of a team, the newest first. With `unfinished`, also returns incomplete files. */
export function listModels(
  db: Queries,
  teamId: string,
  { unfinished = false, limit = 10_000, after }: ModelSlice = {},
): Promise<ModelFile[]> {
  const finished = unfinished ? "" : " AND complete_at IS NOT NULL";
  const behind = after === undefined ? "" : " AND (created_at < ? OR (created_at = ? AND sha256 > ?))";
  const start = after === undefined ? [] : [after.createdAt, after.createdAt, after.sha256];
  return db.all(
    `SELECT ${COLUMNS} FROM models WHERE team_id = ?${finished}${behind} ORDER BY created_at DESC, sha256 LIMIT ?`,
    [teamId, ...start, limit],
  );
}

interface ModelSlice {
  readonly unfinished?: boolean;
  readonly limit?: number;
  /** Last file of the page before: only files that come later in the list are on this page. */
  readonly after?: { readonly createdAt: number; readonly sha256: string } | undefined;
}

/** Returns a model file, complete or not. */
export async function findModel(db: Queries, teamId: string, sha256: string): Promise<ModelFile | undefined> {
  const [row] = await db.all<ModelFile>(`SELECT ${COLUMNS} FROM models WHERE team_id = ? AND sha256 = ?`, [
    teamId,
    sha256,
  ]);
  return row;
}

/** True if a version of an application names the file. */
export async function isModelNamed(db: Queries, teamId: string, sha256: string): Promise<boolean> {
  const rows = await db.all("SELECT number FROM app_versions WHERE team_id = ? AND model_sha256 = ? LIMIT 1", [
    ...[teamId, sha256],
  ]);
  return rows.length > 0;
}

/**
 * Reserves the bytes of a file within the quota. Returns the row; its `complete_at` is null while bytes of the file are
 * missing.
 */
export async function beginModel(
  db: Database,
  now: number,
  teamId: string,
  limits: ModelLimits,
  file: { readonly sha256: string; readonly size: number; readonly name: string },
): Promise<ModelFile> {
  const name = cleanName(file.name, "name of the model file");
  const { modelBytes, teamModelBytes } = limits;
  if (file.size > modelBytes)
    throw new UserError(
      `model file: got ${file.size} bytes, expected at most ${modelBytes}`,
      413,
      `The file has ${file.size} bytes. A model file may have ${modelBytes}.`,
    );
  return db.write(async (tx) => {
    const known = await findModel(tx, teamId, file.sha256);
    if (known !== undefined && (known.complete_at !== null || known.size === file.size)) return known;
    const [sum] = await tx.all<{ bytes: number | null }>(
      "SELECT CAST(sum(size) AS BIGINT) AS bytes FROM models WHERE team_id = ? AND sha256 <> ?",
      [teamId, file.sha256],
    );
    const used = sum?.bytes ?? 0;
    if (used + file.size > teamModelBytes)
      throw new UserError(
        `model files: got ${file.size} bytes more for a team that has ${used}, expected at most ${teamModelBytes} in all`,
        413,
        `The model files of the team have ${used} bytes, and may have ${teamModelBytes}. Remove one first.`,
      );
    await tx.all(
      "INSERT INTO models (team_id, sha256, size, name, created_at, complete_at) VALUES (?, ?, ?, ?, ?, NULL) " +
        "ON CONFLICT (team_id, sha256) DO UPDATE SET size = excluded.size, name = excluded.name",
      [teamId, file.sha256, file.size, name, now],
    );
    return { sha256: file.sha256, size: file.size, name, created_at: now, complete_at: null };
  });
}

/** Marks a file as complete: all bytes are there, and the hash is right. */
export async function completeModel(
  db: Database,
  { now, actor, teamId }: Change,
  { sha256, name }: ModelFile,
): Promise<void> {
  await db.write(async (tx) => {
    const done = await tx.all(
      "UPDATE models SET complete_at = ? WHERE team_id = ? AND sha256 = ? AND complete_at IS NULL RETURNING sha256",
      [now, teamId, sha256],
    );
    if (done.length > 0) await audit(tx, now, actor, "model.added", teamId, `${name} ${sha256}`);
  });
}

/** Deletes the row of an incomplete file, and so frees its reserved bytes. */
export async function forgetModel(db: Database, teamId: string, sha256: string): Promise<void> {
  await db.write((tx) =>
    tx.all("DELETE FROM models WHERE team_id = ? AND sha256 = ? AND complete_at IS NULL", [teamId, sha256]),
  );
}

/**
 * Removes a model file that no version names, and its bytes. Deletes the row first, since a row without bytes would
 * offer a missing file. If the hub is killed in between, `deleteOrphans` deletes the bytes.
 * @returns the name of the file
 * @throws UserError if a version names the file, or the team has no such file
 */
export async function removeModelFile(
  { db, files, now }: { readonly db: Database; readonly files: Files; readonly now: () => number },
  actor: string,
  teamId: string,
  sha256: string,
): Promise<string> {
  const name = await removeRow(db, now(), actor, teamId, sha256);
  await files.remove({ team: teamId, kind: "models", sha256 });
  return name;
}

function removeRow(db: Database, now: number, actor: string, teamId: string, sha256: string): Promise<string> {
  return db.write(async (tx) => {
    const [used] = await tx.all<{ count: number }>(
      "SELECT count(*) AS count FROM app_versions WHERE team_id = ? AND model_sha256 = ?",
      [teamId, sha256],
    );
    if ((used?.count ?? 0) > 0)
      throw new UserError(
        `model ${sha256}: got a model that ${used?.count} versions name, expected one that none does`,
        409,
        "Versions of an application name this model file. Remove the application first.",
      );
    const removed = await tx.all<{ name: string }>(
      "DELETE FROM models WHERE team_id = ? AND sha256 = ? RETURNING name",
      [teamId, sha256],
    );
    if (removed.length === 0)
      throw new UserError(`got model ${sha256}, expected one of the team`, 404, "The team has no such model file.");
    await audit(tx, now, actor, "model.removed", teamId, `${removed[0]!.name} ${sha256}`);
    return removed[0]!.name;
  });
}
