/** Finds snaps, the newest first. The database has an index for each filter. */
import type { Queries, Value } from "boxwright-service/database";

export interface SnapFileRow {
  readonly id: string;
  readonly snap_id: string;
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly content_type: string;
  readonly classification: string;
}

export interface Snap {
  readonly id: string;
  readonly name: string;
  readonly device_id: string;
  readonly app_identifier: string | null;
  /** CloudEvent in JSON. */
  readonly event: string;
  readonly bytes: number;
  readonly created_at: number;
  readonly tags: readonly string[];
  readonly extras: Readonly<Record<string, string>>;
  readonly files: readonly SnapFileRow[];
}

/**
 * Filter of snaps. All given fields must match. Every entry of `tags` and `extras` must match. For other lists, one
 * matching entry is enough.
 */
export interface SnapFilter {
  readonly from?: number | undefined;
  /** End of the time range. A snap of exactly this time does not match. */
  readonly to?: number | undefined;
  readonly deviceIds?: readonly string[] | undefined;
  readonly appIdentifiers?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly extras?: readonly { readonly key: string; readonly value?: string | undefined }[] | undefined;
  readonly classifications?: readonly string[] | undefined;
}

/** Place in the list of snaps: a page starts after the snap with this time and id. */
export interface SnapCursor {
  readonly createdAt: number;
  readonly id: string;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

const marks = (list: readonly unknown[]): string => list.map(() => "?").join(", ");

export function isEmptyFilter(filter: SnapFilter): boolean {
  return conditionsOf(filter).length === 0;
}

function conditionsOf(filter: SnapFilter): Condition[] {
  const found: Condition[] = [];
  const oneOf = (sql: (marks: string) => string, list: readonly string[] | undefined): void => {
    if (list !== undefined && list.length > 0) found.push({ sql: sql(marks(list)), values: list });
  };
  if (filter.from !== undefined) found.push({ sql: "s.created_at >= ?", values: [filter.from] });
  if (filter.to !== undefined) found.push({ sql: "s.created_at < ?", values: [filter.to] });
  oneOf((list) => `s.device_id IN (${list})`, filter.deviceIds);
  oneOf((list) => `s.app_identifier IN (${list})`, filter.appIdentifiers);
  oneOf((list) => `s.name IN (${list})`, filter.names);
  for (const tag of filter.tags ?? [])
    found.push({
      sql: "s.id IN (SELECT t.snap_id FROM snap_tags t WHERE t.team_id = s.team_id AND t.tag = ?)",
      values: [tag],
    });
  for (const { key, value } of filter.extras ?? []) {
    const sql = "s.id IN (SELECT e.snap_id FROM snap_extras e WHERE e.team_id = s.team_id AND e.key = ?";
    found.push(
      value === undefined
        ? { sql: `${sql})`, values: [key] }
        : { sql: `${sql} AND e.value = ?)`, values: [key, value] },
    );
  }
  oneOf(
    (list) =>
      `s.id IN (SELECT f.snap_id FROM snap_files f WHERE f.team_id = s.team_id AND f.classification IN (${list}))`,
    filter.classifications,
  );
  return found;
}

type SnapRow = Omit<Snap, "tags" | "extras" | "files">;
const COLUMNS =
  "s.id AS id, s.name AS name, s.device_id AS device_id, s.app_identifier AS app_identifier, s.event AS event, s.bytes AS bytes, s.created_at AS created_at";

/** Returns at most `limit` snaps after the cursor. */
export async function findSnaps(
  db: Queries,
  teamId: string,
  filter: SnapFilter,
  { after, limit }: { readonly after?: SnapCursor | undefined; readonly limit: number },
): Promise<Snap[]> {
  const conditions = conditionsOf(filter);
  if (after !== undefined)
    conditions.push({ sql: "(s.created_at, s.id) < (?, ?)", values: [after.createdAt, after.id] });
  const where = ["s.team_id = ?", "s.complete_at IS NOT NULL", ...conditions.map(({ sql }) => sql)].join(" AND ");
  const rows = await db.all<SnapRow>(
    `SELECT ${COLUMNS} FROM snaps s WHERE ${where} ORDER BY s.created_at DESC, s.id DESC LIMIT ?`,
    [teamId, ...conditions.flatMap(({ values }) => values), limit],
  );
  return withParts(db, teamId, rows);
}

export async function findSnap(db: Queries, teamId: string, id: string): Promise<Snap | undefined> {
  const rows = await db.all<SnapRow>(
    `SELECT ${COLUMNS} FROM snaps s WHERE s.team_id = ? AND s.id = ? AND s.complete_at IS NOT NULL`,
    [teamId, id],
  );
  return (await withParts(db, teamId, rows))[0];
}

/** Number of snaps whose tags, extras and files one query reads. */
const AT_ONCE = 200;

/** Adds tags, extras and files to snaps, with three queries per 200 snaps. */
async function withParts(db: Queries, teamId: string, rows: readonly SnapRow[]): Promise<Snap[]> {
  const snaps = new Map<string, Snap & { tags: string[]; extras: Record<string, string>; files: SnapFileRow[] }>();
  for (const row of rows) snaps.set(row.id, { ...row, tags: [], extras: {}, files: [] });
  const ids = [...snaps.keys()];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const read = <T extends object>(columns: string, table: string, order: string): Promise<T[]> =>
      db.all<T>(`SELECT ${columns} FROM ${table} WHERE team_id = ? AND snap_id IN (${marks(some)}) ORDER BY ${order}`, [
        teamId,
        ...some,
      ]);
    for (const { snap_id, tag } of await read<{ snap_id: string; tag: string }>("snap_id, tag", "snap_tags", "tag"))
      snaps.get(snap_id)!.tags.push(tag);
    for (const row of await read<{ snap_id: string; key: string; value: string }>(
      "snap_id, key, value",
      "snap_extras",
      "key",
    ))
      snaps.get(row.snap_id)!.extras[row.key] = row.value;
    const columns = "id, snap_id, name, size, sha256, content_type, classification";
    for (const file of await read<SnapFileRow>(columns, "snap_files", "id")) snaps.get(file.snap_id)!.files.push(file);
  }
  return [...snaps.values()];
}

/** Returns a file of a completed snap. */
export async function findSnapFile(db: Queries, teamId: string, fileId: string): Promise<SnapFileRow | undefined> {
  const [row] = await db.all<SnapFileRow>(
    "SELECT f.id AS id, f.snap_id AS snap_id, f.name AS name, f.size AS size, f.sha256 AS sha256, f.content_type AS content_type, f.classification AS classification FROM snap_files f JOIN snaps s ON s.team_id = f.team_id AND s.id = f.snap_id WHERE f.team_id = ? AND f.id = ? AND s.complete_at IS NOT NULL",
    [teamId, fileId],
  );
  return row;
}

/** Largest number of tags, keys or values in one answer. */
const MAX_WORDS = 1000;

async function words(db: Queries, sql: string, values: readonly Value[]): Promise<string[]> {
  const rows = await db.all<{ word: string }>(`${sql} ORDER BY word LIMIT ${MAX_WORDS}`, values);
  return rows.map(({ word }) => word);
}

export const listSnapTags = (db: Queries, teamId: string): Promise<string[]> =>
  words(db, "SELECT DISTINCT tag AS word FROM snap_tags WHERE team_id = ?", [teamId]);

export const listExtrasKeys = (db: Queries, teamId: string): Promise<string[]> =>
  words(db, "SELECT DISTINCT key AS word FROM snap_extras WHERE team_id = ?", [teamId]);

export const listExtrasValues = (db: Queries, teamId: string, key: string): Promise<string[]> =>
  words(db, "SELECT DISTINCT value AS word FROM snap_extras WHERE team_id = ? AND key = ?", [teamId, key]);
