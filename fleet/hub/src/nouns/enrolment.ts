/** Enrolment: an adopt key makes a new device, or gives an identity to a device that a person added. */
import type { Database, Queries } from "boxwright-service/database";
import type { EnrolAnswer, EnrolRequest } from "boxwright-service/schema/protocol";
import { newId } from "../core/ids.ts";
import { hashKey, readKey, sameHash } from "../core/key.ts";
import { ADOPT_KEY_COLUMNS, spentBecause, type AdoptKey } from "./adoptkey.ts";
import { audit } from "./audit.ts";
import { countChange } from "./changes.ts";
import { addCredential, endCredentials } from "./credential.ts";
import { countDevices } from "./device.ts";
import { cleanName } from "./text.ts";

export type Enrolment =
  | { readonly kind: "enrolled"; readonly answer: EnrolAnswer }
  /** `no_key`: the prefix or checksum is wrong, and the database was not queried. `unknown`: no such key is stored. */
  | { readonly kind: "no_key" | "unknown" }
  | { readonly kind: "spent"; readonly why: string }
  | { readonly kind: "conflict"; readonly why: string };

interface KeyRow extends AdoptKey {
  readonly hash: string;
  readonly team_id: string;
  readonly team_name: string;
}

const FIND_KEY = `SELECT k.hash AS hash, k.team_id AS team_id, t.name AS team_name, ${ADOPT_KEY_COLUMNS.split(", ")
  .map((column) => `k.${column} AS ${column}`)
  .join(", ")} FROM adopt_keys k JOIN teams t ON t.id = k.team_id WHERE k.id = ?`;

/**
 * Enrols a device, completely or not at all. A device may repeat a request because it did not get the answer. It then
 * gets the same id again, unless its first credential was used meanwhile.
 */
export async function enrol(db: Database, now: number, request: EnrolRequest, maxDevices: number): Promise<Enrolment> {
  const id = readKey(request.adopt_key, "bwa");
  if (id === undefined) return { kind: "no_key" };
  const [known] = await db.all<KeyRow>(FIND_KEY, [id]);
  const same = sameHash(hashKey(request.adopt_key), known?.hash ?? "0".repeat(64));
  if (known === undefined || !same) return { kind: "unknown" };
  const name = cleanName(request.name, "name");
  return db.write(async (tx) => {
    const [key] = await tx.all<KeyRow>(FIND_KEY, [id]);
    if (key === undefined) return { kind: "unknown" };
    const repeated = await findUnused(tx, key, request.serial_number);
    const spent = spentBecause(repeated === undefined ? key : { ...key, used: 0 }, now);
    if (spent !== undefined) return { kind: "spent", why: spent };
    const found = await findOrMakeDevice(tx, now, key, repeated, { name, maxDevices });
    if (found.kind !== "device") return found;
    const { deviceId } = found;
    await insertState(tx, now, key, found, request);
    await joinGroups(tx, key, deviceId);
    await countChange(tx, key.team_id);
    if (repeated === undefined)
      await tx.all("UPDATE adopt_keys SET used = used + 1, last_used_at = ? WHERE id = ?", [now, id]);
    const credential = await addCredential(tx, now, key.team_id, deviceId);
    await audit(tx, now, `adopt key ${id}`, "device.enrolled", key.team_id, `${deviceId} ${found.name}`);
    const answer = { device_id: deviceId, credential: credential.key, name: found.name, team: key.team_name };
    return { kind: "enrolled", answer };
  });
}

/** Returns the device that this key made for this serial number, if the device's credential was never used. */
async function findUnused(tx: Queries, key: KeyRow, serial: string | undefined): Promise<string | undefined> {
  if (serial === undefined) return undefined;
  const [found] = await tx.all<{ device_id: string }>(
    "SELECT s.device_id AS device_id FROM device_states s JOIN devices d ON d.team_id = s.team_id AND d.id = s.device_id WHERE s.team_id = ? AND s.enrolled_by = ? AND s.serial_number = ? AND NOT EXISTS (SELECT 1 FROM device_credentials c WHERE c.team_id = s.team_id AND c.device_id = s.device_id AND c.used_at IS NOT NULL)",
    [key.team_id, key.id, serial],
  );
  return found?.device_id;
}

type FoundDevice = {
  readonly kind: "device";
  readonly deviceId: string;
  readonly name: string;
  /**
   * Time at which the device was paused; null if the device is not paused. A paused device stays paused when it enrols
   * again.
   */
  readonly pausedAt: number | null;
};
type Conflict = Extract<Enrolment, { kind: "conflict" }>;

/** Finds or makes the device. If the device has enrolled before, ends its credentials and deletes its old state. */
async function findOrMakeDevice(
  tx: Queries,
  now: number,
  key: KeyRow,
  repeated: string | undefined,
  wanted: { readonly name: string; readonly maxDevices: number },
): Promise<FoundDevice | Conflict> {
  const { team_id } = key;
  const known = key.device_id ?? repeated;
  if (known === undefined) {
    const count = await countDevices(tx, team_id);
    if (count >= wanted.maxDevices) return { kind: "conflict", why: `the team has ${count} devices already` };
    const deviceId = newId(now);
    await tx.all("INSERT INTO devices (team_id, id, name, created_at) VALUES (?, ?, ?, ?)", [
      ...[team_id, deviceId, wanted.name, now],
    ]);
    return { kind: "device", deviceId, name: wanted.name, pausedAt: null };
  }
  const [device] = await tx.all<{ name: string }>("SELECT name FROM devices WHERE team_id = ? AND id = ?", [
    ...[team_id, known],
  ]);
  if (device === undefined) return { kind: "conflict", why: "the device of this key is not in the team any more" };
  const [other] = await tx.all<{ team_id: string; paused_at: number | null }>(
    "SELECT team_id, paused_at FROM device_states WHERE device_id = ?",
    [known],
  );
  if (other !== undefined && other.team_id !== team_id)
    return { kind: "conflict", why: "a device of another team has this id" };
  if (other !== undefined) {
    await endCredentials(tx, now, team_id, known);
    await tx.all("DELETE FROM device_states WHERE team_id = ? AND device_id = ?", [team_id, known]);
  }
  return { kind: "device", deviceId: known, name: device.name, pausedAt: other?.paused_at ?? null };
}

async function insertState(
  tx: Queries,
  now: number,
  key: KeyRow,
  { deviceId, pausedAt }: FoundDevice,
  request: EnrolRequest,
): Promise<void> {
  await tx.all(
    "INSERT INTO device_states (team_id, device_id, enrolled_at, enrolled_by, serial_number, model, architecture, version, paused_at, public_key, counter, application_state, contacts, restarts, drops) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 'none', 0, 0, 0)",
    [
      ...[key.team_id, deviceId, now, key.id, request.serial_number ?? null],
      ...[request.model, request.architecture, request.version, pausedAt, request.public_key ?? null],
    ],
  );
}

/** Adds a device to those groups of the key that still exist. */
async function joinGroups(tx: Queries, key: KeyRow, deviceId: string): Promise<void> {
  await tx.all(
    "INSERT INTO device_group_members (team_id, group_id, device_id) SELECT g.team_id, g.id, CAST(? AS TEXT) FROM adopt_key_groups k JOIN device_groups g ON g.id = k.group_id WHERE k.adopt_key_id = ? AND g.team_id = ? ON CONFLICT DO NOTHING",
    [deviceId, key.id, key.team_id],
  );
}
