/** Finds devices with their status by filter and order, page by page. Pages and GraphQL use the same queries. */
import type { Queries, Value } from "boxwright-service/database";
import { findByIds, IDS } from "./by-ids.ts";
import { isInSet } from "./device-set.ts";
import { notInTeam, type Device } from "./device.ts";
import { IS_ONLINE, onlineBetween, STATE_COLUMNS, type DeviceState, type Status } from "./status.ts";

export interface DeviceFilter {
  /** Part of the name or id. Upper and lower case are equal. */
  readonly search?: string | undefined;
  readonly status?: Status | undefined;
  readonly groupId?: string | undefined;
  readonly tag?: string | undefined;
  /** Identifier of the application that the device runs, by the device's last report. */
  readonly application?: string | undefined;
  readonly model?: string | undefined;
  /**
   * Limits of the last contact, in milliseconds since 1970. A device without a contact counts as before every limit.
   */
  readonly contactBefore?: number | undefined;
  readonly contactAfter?: number | undefined;
  /**
   * "conflict": two devices seem to use the same credential. "new": a person added the device, and the device never
   * enrolled. "enrolled": the device has a credential.
   */
  readonly only?: "conflict" | "enrolled" | "new" | "failed" | "revoked" | "paused" | undefined;
}

export type OrderField = "id" | "name" | "lastContactAt" | "createdAt";

export interface DeviceOrder {
  readonly field: OrderField;
  readonly descending: boolean;
}

/** Start of a page: after the row with this sort value and this id. */
export interface Position {
  readonly value: string | number;
  readonly id: string;
}

export interface DeviceRow extends Device {
  readonly created_at: number;
}

export interface OrderedRow extends DeviceRow {
  /** Value that the rows are ordered by. */
  readonly sort: string | number;
}

const SORTS: Readonly<Record<OrderField, string>> = {
  id: "d.id",
  name: "lower(d.name)",
  lastContactAt: "coalesce(s.last_contact_at, -1)",
  createdAt: "d.created_at",
};

const FROM = "FROM devices d LEFT JOIN device_states s ON s.team_id = d.team_id AND s.device_id = d.id";

const fold = (text: string): string => text.normalize("NFKC").toLowerCase();

/** Returns the SQL conditions of a filter, except its search text. */
function conditions(teamId: string, filter: DeviceFilter, now: number): { sql: string; params: Value[] } {
  const parts = ["d.team_id = ?"];
  const params: Value[] = [teamId];
  const add = (sql: string, ...values: Value[]): void => {
    parts.push(sql);
    params.push(...values);
  };
  const { status, groupId, tag, application, model, contactBefore, contactAfter, only } = filter;
  if (status !== undefined) add(`${IS_ONLINE} = ${status === "ONLINE" ? 1 : 0}`, ...onlineBetween(now));
  if (groupId !== undefined) add(isInSet("group"), groupId);
  if (tag !== undefined) add(isInSet("tag"), tag);
  if (application !== undefined) add("s.application = ?", application);
  if (model !== undefined) add("s.model = ?", model);
  if (contactBefore !== undefined) add("(s.last_contact_at IS NULL OR s.last_contact_at < ?)", contactBefore);
  if (contactAfter !== undefined) add("s.last_contact_at > ?", contactAfter);
  if (only === "conflict") add("s.conflict_at IS NOT NULL");
  if (only === "enrolled") add("s.device_id IS NOT NULL AND s.revoked_at IS NULL");
  if (only === "new") add("s.device_id IS NULL");
  if (only === "failed") add("s.application_state = 'failed'");
  if (only === "revoked") add("s.revoked_at IS NOT NULL");
  if (only === "paused") add("s.paused_at IS NOT NULL");
  return { sql: parts.join(" AND "), params };
}

export interface Slice {
  readonly order: DeviceOrder;
  readonly limit: number;
  readonly after?: Position | undefined;
  /** Number of rows to skip, for numbered pages. */
  readonly offset?: number | undefined;
}

/**
 * Returns the matching devices in order. JavaScript does the search, since the databases differ in conversion to lower
 * case: SQLite converts only ASCII. A team has at most 20,000 devices.
 */
export async function queryDevices(
  db: Queries,
  teamId: string,
  filter: DeviceFilter,
  now: number,
  { order, limit, after, offset = 0 }: Slice,
): Promise<OrderedRow[]> {
  const { sql, params } = conditions(teamId, filter, now);
  const sort = SORTS[order.field];
  const [direction, beyond] = order.descending ? ["DESC", "<"] : ["ASC", ">"];
  const start = after === undefined ? "" : ` AND (${sort}, d.id) ${beyond} (?, ?)`;
  const text = `SELECT d.id AS id, d.name AS name, d.created_at AS created_at, ${sort} AS sort ${FROM} WHERE ${sql}${start} ORDER BY ${sort} ${direction}, d.id ${direction}`;
  const all = [...params, ...(after === undefined ? [] : [after.value, after.id])];
  const { search } = filter;
  if (search === undefined) return db.all<OrderedRow>(`${text} LIMIT ? OFFSET ?`, [...all, limit, offset]);
  return matching(await db.all<OrderedRow>(text, all), search).slice(offset, offset + limit);
}

function matching<T extends Device>(rows: readonly T[], search: string): T[] {
  const wanted = fold(search);
  return rows.filter(({ id, name }) => fold(name).includes(wanted) || fold(id).includes(wanted));
}

/** Counts the devices that match. */
export async function countMatching(db: Queries, teamId: string, filter: DeviceFilter, now: number): Promise<number> {
  const { sql, params } = conditions(teamId, filter, now);
  const { search } = filter;
  if (search !== undefined)
    return matching(await db.all<Device>(`SELECT d.id AS id, d.name AS name ${FROM} WHERE ${sql}`, params), search)
      .length;
  const [row] = await db.all<{ count: number }>(`SELECT count(*) AS count ${FROM} WHERE ${sql}`, params);
  return row?.count ?? 0;
}

export interface Counts {
  readonly total: number;
  readonly online: number;
  readonly conflicts: number;
  readonly failed: number;
  /** Devices that a person added and that never enrolled. */
  readonly fresh: number;
  readonly revoked: number;
}

/** Counts the devices of a team: online, never enrolled, failing, in conflict, revoked. */
export async function countByStatus(db: Queries, teamId: string, now: number): Promise<Counts> {
  const [row] = await db.all<Counts>(
    `SELECT count(*) AS total, count(CASE WHEN ${IS_ONLINE} = 1 THEN 1 END) AS online, count(s.conflict_at) AS conflicts, count(s.revoked_at) AS revoked, count(CASE WHEN s.application_state = 'failed' THEN 1 END) AS failed, count(CASE WHEN s.device_id IS NULL THEN 1 END) AS fresh ${FROM} WHERE d.team_id = ?`,
    [...onlineBetween(now), teamId],
  );
  return row!;
}

const FIND_STATES = `SELECT device_id AS id, ${STATE_COLUMNS.join(", ")} FROM device_states WHERE team_id = ? AND device_id IN (${IDS})`;

/** Returns the states of the given devices, by device id. A device that never enrolled has no state. */
export async function readStates(
  db: Queries,
  teamId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeviceState>> {
  const rows = await findByIds<DeviceState & { id: string }>(db, FIND_STATES, teamId, ids);
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findDevice(db: Queries, teamId: string, id: string): Promise<DeviceRow | undefined> {
  const rows = await db.all<DeviceRow>("SELECT id, name, created_at FROM devices WHERE team_id = ? AND id = ?", [
    teamId,
    id,
  ]);
  return rows[0];
}

/** Returns a device of the team, or throws a UserError. */
export async function needDevice(db: Queries, teamId: string, id: string): Promise<DeviceRow> {
  const found = await findDevice(db, teamId, id);
  if (found === undefined) throw notInTeam(id);
  return found;
}

/** Returns the applications that devices of the team run, by their last reports. */
export async function listReportedApplications(db: Queries, teamId: string): Promise<string[]> {
  const rows = await db.all<{ application: string }>(
    "SELECT DISTINCT application FROM device_states WHERE team_id = ? AND application IS NOT NULL ORDER BY application LIMIT 200",
    [teamId],
  );
  return rows.map(({ application }) => application);
}
