/** Groups of devices in a team. A device may be in several groups. */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { audit, type Change } from "./audit.ts";
import { findByIds, IDS } from "./by-ids.ts";
import { countChange, countSetChange } from "./changes.ts";
import { needDevice } from "./device-query.ts";
import { checkRoom, noSuch } from "./rows.ts";
import { cleanName } from "./text.ts";

export const MAX_GROUPS = 500;

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
}

/** Returns groups, ordered by name. */
export function listGroups(db: Queries, teamId: string): Promise<(Group & { readonly devices: number })[]> {
  return db.all(
    "SELECT g.id AS id, g.name AS name, g.created_at AS created_at, (SELECT count(*) FROM device_group_members m JOIN devices d ON d.team_id = m.team_id AND d.id = m.device_id WHERE m.team_id = g.team_id AND m.group_id = g.id) AS devices FROM device_groups g WHERE g.team_id = ? ORDER BY lower(g.name), g.id",
    [teamId],
  );
}

export async function findGroup(db: Queries, teamId: string, id: string): Promise<Group | undefined> {
  const rows = await db.all<Group>("SELECT id, name, created_at FROM device_groups WHERE team_id = ? AND id = ?", [
    teamId,
    id,
  ]);
  return rows[0];
}

/** Returns the groups of a device, ordered by name. */
export async function groupsOf(db: Queries, teamId: string, deviceId: string): Promise<Group[]> {
  return db.all<Group>(
    "SELECT g.id AS id, g.name AS name, g.created_at AS created_at FROM device_group_members m JOIN device_groups g ON g.id = m.group_id WHERE m.team_id = ? AND m.device_id = ? ORDER BY lower(g.name), g.id",
    [teamId, deviceId],
  );
}

const FIND_GROUPS = `SELECT m.device_id AS device_id, g.id AS id, g.name AS name, g.created_at AS created_at FROM device_group_members m JOIN device_groups g ON g.id = m.group_id WHERE m.team_id = ? AND m.device_id IN (${IDS}) ORDER BY lower(g.name), g.id`;

/** Returns the groups of the given devices, by device id. */
export async function groupsOfMany(
  db: Queries,
  teamId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Group[]>> {
  const groups = new Map<string, Group[]>();
  for (const { device_id, ...group } of await findByIds<Group & { device_id: string }>(db, FIND_GROUPS, teamId, ids))
    groups.set(device_id, [...(groups.get(device_id) ?? []), group]);
  return groups;
}

/** Returns a group of the team. Throws a UserError if there is none. */
export async function needGroup(tx: Queries, teamId: string, id: string): Promise<Group> {
  const group = await findGroup(tx, teamId, id);
  if (group === undefined) throw noSuch("group", id);
  return group;
}

async function checkFree(tx: Queries, teamId: string, name: string, id = ""): Promise<void> {
  const same = await tx.all("SELECT id FROM device_groups WHERE team_id = ? AND name = ? AND id <> ?", [
    teamId,
    name,
    id,
  ]);
  if (same.length > 0)
    throw new UserError(
      `got group name ${JSON.stringify(name)}, expected one that the team does not have yet`,
      409,
      "The team has a group of this name already.",
    );
}

export async function createGroup(db: Database, { now, actor, teamId }: Change, nameText: string): Promise<Group> {
  const group: Group = { id: newId(now), name: cleanName(nameText, "group name"), created_at: now };
  await db.write(async (tx) => {
    await checkFree(tx, teamId, group.name);
    await checkRoom(tx, "device_groups", teamId, MAX_GROUPS, "group");
    await tx.all("INSERT INTO device_groups (id, team_id, name, created_at) VALUES (?, ?, ?, ?)", [
      ...[group.id, teamId, group.name, now],
    ]);
    await audit(tx, now, actor, "group.created", teamId, named(group));
  });
  return group;
}

const named = ({ id, name }: { readonly id: string; readonly name: string }): string => `${id} ${name}`;

export async function renameGroup(db: Database, change: Change, id: string, nameText: string): Promise<Group> {
  const { now, actor, teamId } = change;
  const name = cleanName(nameText, "group name");
  return db.write(async (tx) => {
    const group = { ...(await needGroup(tx, teamId, id)), name };
    await checkFree(tx, teamId, name, id);
    await tx.all("UPDATE device_groups SET name = ? WHERE team_id = ? AND id = ?", [name, teamId, id]);
    await audit(tx, now, actor, "group.renamed", teamId, named(group));
    return group;
  });
}

/** Deletes a group. Its devices stay. */
export async function deleteGroup(db: Database, { now, actor, teamId }: Change, id: string): Promise<Group> {
  return db.write(async (tx) => {
    const group = await needGroup(tx, teamId, id);
    await tx.all("DELETE FROM device_group_members WHERE team_id = ? AND group_id = ?", [teamId, id]);
    await tx.all("DELETE FROM adopt_key_groups WHERE group_id = ?", [id]);
    await tx.all("DELETE FROM assignments WHERE team_id = ? AND kind = 'group' AND target_id = ?", [teamId, id]);
    await tx.all("DELETE FROM alert_silences WHERE team_id = ? AND kind = 'group' AND target_id = ?", [teamId, id]);
    await tx.all("DELETE FROM device_groups WHERE team_id = ? AND id = ?", [teamId, id]);
    await audit(tx, now, actor, "group.deleted", teamId, named(group));
    await countChange(tx, teamId);
    return group;
  });
}

/** Adds all given devices to a group, or none of them. Returns the group, and the number of devices that were added. */
export async function addToGroup(
  db: Database,
  { now, actor, teamId }: Change,
  groupId: string,
  deviceIds: readonly string[],
): Promise<{ readonly group: Group; readonly added: number }> {
  return db.write(async (tx) => {
    const group = await needGroup(tx, teamId, groupId);
    let added = 0;
    for (const id of deviceIds) {
      await needDevice(tx, teamId, id);
      const rows = await tx.all(
        "INSERT INTO device_group_members (team_id, group_id, device_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1 AS done",
        [teamId, groupId, id],
      );
      added += rows.length;
    }
    const subject = deviceIds.length === 1 ? deviceIds[0]! : `${deviceIds.length} devices`;
    if (added > 0) await audit(tx, now, actor, "group.device_added", teamId, `${named(group)}: ${subject}`);
    if (added > 0) await countSetChange(tx, teamId, "group", [groupId]);
    return { group, added };
  });
}

/** Removes devices from a group. Returns the group, and the number of devices that were removed. */
export async function removeFromGroup(
  db: Database,
  { now, actor, teamId }: Change,
  groupId: string,
  deviceIds: readonly string[],
): Promise<{ readonly group: Group; readonly removed: number }> {
  return db.write(async (tx) => {
    const group = await needGroup(tx, teamId, groupId);
    let removed = 0;
    for (const id of deviceIds) {
      const rows = await tx.all(
        "DELETE FROM device_group_members WHERE team_id = ? AND group_id = ? AND device_id = ? RETURNING 1 AS done",
        [teamId, groupId, id],
      );
      removed += rows.length;
    }
    const subject = deviceIds.length === 1 ? deviceIds[0]! : `${deviceIds.length} devices`;
    if (removed > 0) await audit(tx, now, actor, "group.device_removed", teamId, `${named(group)}: ${subject}`);
    if (removed > 0) await countSetChange(tx, teamId, "group", [groupId]);
    return { group, removed };
  });
}
