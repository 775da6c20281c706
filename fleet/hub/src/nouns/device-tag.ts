/**
 * Tags of devices: short texts, independent of groups. A tag exists while a device has the tag, or an assignment names
 * it.
 */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { cleanTags } from "./application.ts";
import { audit, type Change } from "./audit.ts";
import { findByIds, IDS } from "./by-ids.ts";
import { countSetChange } from "./changes.ts";
import { needDevice, type DeviceRow } from "./device-query.ts";

/** Largest number of tags in the list of a team. */
const MAX_LISTED = 1000;

/** Splits the text of a page's field into tags, at the commas. */
export const splitTags = (text: string): string[] =>
  text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");

/** Checks a list of tags, and returns the cleaned texts. */
export function readTags(given: readonly string[]): string[] {
  const tags = cleanTags(given);
  const bad = tags.find((tag) => tag.includes(","));
  if (bad === undefined) return tags;
  throw new UserError(`tags: got ${JSON.stringify(bad)}, expected texts without commas`, 400, "A tag has no comma.");
}

/**
 * Sets the tags of a device, and removes all others. Setting the same tags again changes nothing, and adds no audit
 * row.
 */
export async function setDeviceTags(
  db: Database,
  { now, actor, teamId }: Change,
  id: string,
  given: readonly string[],
): Promise<DeviceRow> {
  const tags = readTags(given);
  return db.write(async (tx) => {
    const device = await needDevice(tx, teamId, id);
    const before = await tagsOf(tx, teamId, id);
    const changed = [...new Set([...before, ...tags])].filter((tag) => !before.includes(tag) || !tags.includes(tag));
    if (changed.length === 0) return device;
    await tx.all("DELETE FROM device_tags WHERE team_id = ? AND device_id = ?", [teamId, id]);
    for (const tag of tags)
      await tx.all("INSERT INTO device_tags (team_id, device_id, tag) VALUES (?, ?, ?)", [teamId, id, tag]);
    await audit(tx, now, actor, "device.tagged", teamId, `${id} ${tags.length === 0 ? "no tags" : tags.join(", ")}`);
    await countSetChange(tx, teamId, "tag", changed);
    return device;
  });
}

/** Returns the tags of a device, sorted. */
export async function tagsOf(db: Queries, teamId: string, id: string): Promise<string[]> {
  return (await tagsOfMany(db, teamId, [id])).get(id) ?? [];
}

// Sort after the query: for a sorted list, SQLite would read the tags of all devices of the team in the order of tags.
const FIND_TAGS = `SELECT device_id, tag FROM device_tags WHERE team_id = ? AND device_id IN (${IDS})`;

/** Returns the sorted tags of the given devices, by device id. Devices without tags are left out. */
export async function tagsOfMany(
  db: Queries,
  teamId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const tags = new Map<string, string[]>();
  for (const { device_id, tag } of await findByIds<{ device_id: string; tag: string }>(db, FIND_TAGS, teamId, ids))
    tags.set(device_id, [...(tags.get(device_id) ?? []), tag]);
  for (const list of tags.values()) list.sort();
  return tags;
}

/** Returns all tags that devices of the team have. */
export async function listDeviceTags(db: Queries, teamId: string): Promise<string[]> {
  const rows = await db.all<{ tag: string }>(
    `SELECT DISTINCT t.tag AS tag FROM device_tags t JOIN devices d ON d.team_id = t.team_id AND d.id = t.device_id WHERE t.team_id = ? ORDER BY tag LIMIT ${MAX_LISTED}`,
    [teamId],
  );
  return rows.map(({ tag }) => tag);
}
