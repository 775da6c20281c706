/** Sets of devices that are given a version together: a group, and all devices with a tag. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Queries } from "boxwright-service/database";

export const SET_KINDS = ["group", "tag"] as const;
export type SetKind = (typeof SET_KINDS)[number];

/** For each kind of set: the table with its devices, and the column that names the set. */
export const SET_TABLES: Readonly<Record<SetKind, { readonly table: string; readonly column: string }>> = {
  group: { table: "device_group_members", column: "group_id" },
  tag: { table: "device_tags", column: "tag" },
};

/** Returns the SQL condition that is true if a device `d` is in a set. */
export function isInSet(kind: SetKind): string {
  const { table, column } = SET_TABLES[kind];
  return `EXISTS (SELECT 1 FROM ${table} m WHERE m.team_id = d.team_id AND m.device_id = d.id AND m.${column} = ?)`;
}

/** Number of rows to process before other requests get their turn, since a team may have 20,000 devices. */
export const ROWS_A_TURN = 500;

interface Row {
  readonly set_id: string;
  readonly device_id: string;
}

/**
 * Returns the devices of the given sets, by set.
 * @param deviceId looks for this device alone
 */
export async function devicesOfSets(
  db: Queries,
  teamId: string,
  kind: SetKind,
  wanted: ReadonlySet<string>,
  deviceId?: string,
): Promise<Map<string, string[]>> {
  const sets = new Map<string, string[]>();
  if (wanted.size === 0) return sets;
  const { table, column } = SET_TABLES[kind];
  const sql = `SELECT ${column} AS set_id, device_id FROM ${table} WHERE team_id = ?`;
  const order = `AND (${column}, device_id) > (?, ?) ORDER BY ${column}, device_id LIMIT ?`;
  for (let last: Row | undefined = { set_id: "", device_id: "" }; last !== undefined;) {
    const rows: Row[] =
      deviceId === undefined
        ? await db.all<Row>(`${sql} ${order}`, [teamId, last.set_id, last.device_id, ROWS_A_TURN])
        : await db.all<Row>(`${sql} AND device_id = ?`, [teamId, deviceId]);
    for (const { set_id, device_id } of rows) {
      if (!wanted.has(set_id)) continue;
      const list = sets.get(set_id);
      if (list === undefined) sets.set(set_id, [device_id]);
      else list.push(device_id);
    }
    last = deviceId === undefined && rows.length === ROWS_A_TURN ? rows.at(-1) : undefined;
    if (last !== undefined) await nextTurn();
  }
  return sets;
}
