/**
 * The last report of each device, and the time since which the device is online. The hub collects heartbeats in memory
 * and writes them once a second, since 10,000 devices send 333 heartbeats a second. The status `ONLINE` or `OFFLINE`
 * follows from the time of the last contact, so the hub needs no timer per device.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database, Queries } from "boxwright-service/database";
import { HEARTBEAT_SECONDS, type Heartbeat } from "boxwright-service/schema/protocol";
import { CLOCK_SKEW_MS } from "../core/clock.ts";
import { changeInTurns, ROWS_CHANGED } from "../database/slices.ts";
import { audit, type Change } from "./audit.ts";

/** Returns the milliseconds without contact after which a device is offline: three missed heartbeats. */
export const offlineMs = (beatSeconds: number): number => 3000 * beatSeconds;
/**
 * Largest difference of a device's clock, in milliseconds. If the difference is larger, the page says that the clock is
 * wrong.
 */
export const CLOCK_DIFFERENCE_MS = 60_000;
const HOUR_MS = 3600_000;
/** Number of hours for which the hub keeps the history of a device. */
const HISTORY_HOURS = 30 * 24;
/** Number of rows in a batch after which other requests get their turn. */
const ROWS_A_TURN = 25;

export type Status = "ONLINE" | "OFFLINE";

/** A row of `device_states`. */
export interface DeviceState {
  readonly enrolled_at: number;
  readonly serial_number: string | null;
  readonly model: string;
  readonly architecture: string;
  /** Version of the agent. */
  readonly version: string;
  readonly last_contact_at: number | null;
  /** Seconds between heartbeats, as the hub told the device at the last contact. */
  readonly beat_seconds: number;
  readonly online_since: number | null;
  readonly counter: number;
  readonly process_id: string | null;
  readonly previous_process_id: string | null;
  readonly conflict_at: number | null;
  /** Milliseconds by which the device's clock is ahead. */
  readonly clock_difference: number | null;
  readonly host_url: string | null;
  /** Identifier of the application that the device runs, its version, and its state. */
  readonly application: string | null;
  readonly application_version: string | null;
  readonly application_state: "applied" | "failed" | "none";
  /** The problem of an application that failed, as JSON. */
  readonly application_error: string | null;
  /** The last heartbeat as JSON. */
  readonly report: string | null;
  /** Hour of the counts below, in hours since 1970. */
  readonly hour: number | null;
  readonly contacts: number;
  readonly restarts: number;
  readonly worst_p99: number | null;
  readonly drops: number;
  /** Time at which a person asked for a snap; null if nobody did, or the snap has arrived. */
  readonly snap_requested_at: number | null;
  /** Time at which a person asked for the log; null if nobody did, or the log has arrived. */
  readonly log_requested_at: number | null;
  /** Time at which the credential was revoked; null while the device has a credential. */
  readonly revoked_at: number | null;
  /** Time of the last heartbeat with a larger frame count than before. */
  readonly frames_at: number | null;
  /** Used part of the device's spool, in percent. */
  readonly spool_percent: number | null;
  /** Time at which a person paused the device; null if the device is not paused. */
  readonly paused_at: number | null;
}

/** A device's counts of one hour. */
export type Hour = Pick<DeviceState, "contacts" | "restarts" | "worst_p99" | "drops"> & { readonly hour: number };

export const STATE_COLUMNS = [
  ...[
    "enrolled_at",
    "serial_number",
    "model",
    "architecture",
    "version",
    "last_contact_at",
    "online_since",
    "beat_seconds",
  ],
  ...["counter", "process_id", "previous_process_id", "conflict_at", "clock_difference", "host_url", "application"],
  ...["application_version", "application_state", "report", "hour", "contacts", "restarts", "worst_p99", "drops"],
  ...["application_error", "snap_requested_at", "revoked_at", "frames_at", "spool_percent", "paused_at"],
  "log_requested_at",
] as const;

type Contact = Pick<DeviceState, "last_contact_at" | "beat_seconds" | "online_since" | "revoked_at">;

/** Returns the status of a device. A revoked device is offline at once, even if its last contact was a second ago. */
export function statusOf(
  { last_contact_at, beat_seconds, revoked_at }: Omit<Contact, "online_since">,
  now: number,
): Status {
  if (last_contact_at === null || revoked_at !== null) return "OFFLINE";
  const silent = now - last_contact_at;
  // Ignore a contact in the far future, which was written under a wrong clock.
  return silent < offlineMs(beat_seconds) && silent > -CLOCK_SKEW_MS ? "ONLINE" : "OFFLINE";
}

/** Returns the time at which the status last changed, or null if the device was never online. */
export function statusChangedAt(state: Contact, now: number): number | null {
  if (state.last_contact_at === null) return null;
  if (statusOf(state, now) === "ONLINE") return state.online_since;
  return Math.min(now, state.last_contact_at + offlineMs(state.beat_seconds), state.revoked_at ?? Infinity);
}

/** SQL expression with the result of `statusOf` for a row `s` of `device_states`: 1 for an online device, else 0. */
export const IS_ONLINE =
  "(CASE WHEN s.last_contact_at + 3000 * s.beat_seconds > ? AND s.last_contact_at < ? AND s.revoked_at IS NULL THEN 1 ELSE 0 END)";
/** Parameters of `IS_ONLINE`. */
export const onlineBetween = (now: number): [number, number] => [now, now + CLOCK_SKEW_MS];

export interface Advanced {
  readonly state: DeviceState;
  /** Counts of the previous hour, if this heartbeat starts a new hour. */
  readonly finished: Hour | undefined;
  /** True if two devices seem to use the same credential. */
  readonly isConflict: boolean;
}

/** Returns the state after a heartbeat. */
export function advance(before: DeviceState, beat: Heartbeat, now: number, beat_seconds: number): Advanced {
  const isFirst = before.process_id === null;
  const isRestart = !isFirst && beat.process_id !== before.process_id;
  // Two devices with the same credential alternate: the counter decreases, or the previous process id comes back.
  const isConflict =
    !isFirst && (beat.counter < before.counter || (isRestart && beat.process_id === before.previous_process_id));
  const hour = Math.floor(now / HOUR_MS);
  const isSameHour = before.hour === hour;
  const counts = isSameHour ? before : { contacts: 0, restarts: 0, worst_p99: null, drops: 0 };
  // The counters in heartbeats start at zero when the agent starts. Parse the last report once.
  const last = isFirst || isRestart || before.report === null ? undefined : (JSON.parse(before.report) as Heartbeat);
  const { p99 } = beat.decode_ms;
  const worst_p99 = p99 === null ? counts.worst_p99 : Math.max(p99, counts.worst_p99 ?? 0);
  const state: DeviceState = {
    ...before,
    model: beat.model,
    architecture: beat.architecture,
    version: beat.version,
    last_contact_at: now,
    beat_seconds,
    online_since: statusOf(before, now) === "ONLINE" ? before.online_since : now,
    counter: beat.counter,
    process_id: beat.process_id,
    previous_process_id: isRestart ? before.process_id : before.previous_process_id,
    conflict_at: isConflict ? now : before.conflict_at,
    clock_difference: Date.parse(beat.time) - now,
    host_url: beat.host_url ?? null,
    report: JSON.stringify(beat),
    hour,
    contacts: counts.contacts + 1,
    restarts: counts.restarts + (isRestart ? 1 : 0),
    worst_p99,
    drops: counts.drops + newDrops(last, beat),
    // Set the time only if the device processed a frame since the last heartbeat.
    frames_at: beat.frames > (last?.frames ?? 0) ? now : before.frames_at,
    spool_percent: beat.spool.limit === 0 ? null : Math.round((100 * beat.spool.bytes) / beat.spool.limit),
  };
  const finished = before.hour === null || isSameHour ? undefined : { ...before, hour: before.hour };
  return { state, finished, isConflict };
}

/** Returns the number of frames that were dropped or lost since the last heartbeat of the same process. */
function newDrops(last: Heartbeat | undefined, { dropped, lost }: Heartbeat): number {
  const total = dropped + lost;
  return last === undefined ? total : Math.max(0, total - last.dropped - last.lost);
}

interface Pending {
  readonly teamId: string;
  readonly deviceId: string;
  readonly state: DeviceState;
  readonly isConflict: boolean;
  readonly finished: readonly Hour[];
}

/** Heartbeats that wait to be written. */
export class Heartbeats {
  readonly #beatSeconds: number;
  #waiting = new Map<string, Pending>();
  #writing = new Map<string, Pending>();
  #flushing: Promise<void> = Promise.resolve();

  /** @param beatSeconds seconds between heartbeats, which the hub tells each device */
  constructor(beatSeconds = HEARTBEAT_SECONDS) {
    this.#beatSeconds = beatSeconds;
  }

  /** Processes a heartbeat. `row` is the state in the database, which may be older than the state in memory. */
  note(teamId: string, deviceId: string, row: DeviceState, beat: Heartbeat, now: number): DeviceState {
    const earlier = this.#pendingOf(deviceId, row);
    const { state, finished, isConflict } = advance(earlier?.state ?? row, beat, now, this.#beatSeconds);
    const waiting = this.#waiting.get(deviceId);
    this.#waiting.set(deviceId, {
      ...{ teamId, deviceId, state },
      isConflict: isConflict || waiting?.isConflict === true,
      finished: [...(waiting?.finished ?? []), ...(finished === undefined ? [] : [finished])],
    });
    return state;
  }

  get size(): number {
    return this.#waiting.size + this.#writing.size;
  }

  /** Writes the collected heartbeats in batches. A batch that fails is written at the next call. */
  flush(db: Database): Promise<void> {
    const run = this.#flushing.then(() => this.#flush(db));
    this.#flushing = run.catch(() => undefined);
    return run;
  }

  #pendingOf(deviceId: string, { enrolled_at }: DeviceState): Pending | undefined {
    const found = this.#waiting.get(deviceId) ?? this.#writing.get(deviceId);
    // Ignore heartbeats from before a new enrolment of the device.
    return found?.state.enrolled_at === enrolled_at ? found : undefined;
  }

  async #flush(db: Database): Promise<void> {
    if (this.#waiting.size === 0) return;
    this.#writing = this.#waiting;
    this.#waiting = new Map();
    try {
      const work = async (tx: Queries): Promise<void> => {
        let rows = 0;
        for (const pending of this.#writing.values()) {
          if (++rows % ROWS_A_TURN === 0) await nextTurn();
          await write(tx, pending);
        }
      };
      // Do not sync the disk: after a power failure, the next heartbeats bring the same values.
      await db.write(work, { durable: false });
    } catch (error) {
      for (const [id, pending] of this.#writing) this.#putBack(id, pending);
      throw error;
    } finally {
      this.#writing = new Map();
    }
  }

  /** Collects a heartbeat again after its write failed. Keeps the newer state if a newer heartbeat waits. */
  #putBack(id: string, old: Pending): void {
    const newer = this.#waiting.get(id);
    if (newer === undefined) this.#waiting.set(id, old);
    else
      this.#waiting.set(id, {
        ...newer,
        isConflict: newer.isConflict || old.isConflict,
        finished: [...old.finished, ...newer.finished],
      });
  }
}

async function write(tx: Queries, { teamId, deviceId, state: s, isConflict, finished }: Pending): Promise<void> {
  const done = await tx.all(
    "UPDATE device_states SET model = ?, architecture = ?, version = ?, last_contact_at = ?, beat_seconds = ?, online_since = ?, counter = ?, process_id = ?, previous_process_id = ?, conflict_at = coalesce(?, conflict_at), clock_difference = ?, host_url = ?, report = ?, hour = ?, contacts = ?, restarts = ?, worst_p99 = ?, drops = ?, frames_at = ?, spool_percent = ? WHERE team_id = ? AND device_id = ? AND enrolled_at = ? RETURNING 1 AS done",
    [
      ...[
        s.model,
        s.architecture,
        s.version,
        s.last_contact_at,
        s.beat_seconds,
        s.online_since,
        s.counter,
        s.process_id,
      ],
      ...[s.previous_process_id, isConflict ? s.conflict_at : null, s.clock_difference, s.host_url, s.report],
      ...[s.hour, s.contacts, s.restarts, s.worst_p99, s.drops, s.frames_at, s.spool_percent],
      ...[teamId, deviceId, s.enrolled_at],
    ],
  );
  if (done.length === 0) return;
  for (const { hour, contacts, restarts, worst_p99, drops } of finished)
    await tx.all(
      "INSERT INTO device_hours (team_id, device_id, hour, contacts, restarts, worst_p99, drops) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      [teamId, deviceId, hour, contacts, restarts, worst_p99, drops],
    );
}

/** Returns the last `hours` complete hours of a device, the oldest first. The device's state holds the current hour. */
export function hoursOf(db: Queries, teamId: string, deviceId: string, now: number, hours: number): Promise<Hour[]> {
  return db.all<Hour>(
    "SELECT hour, contacts, restarts, worst_p99, drops FROM device_hours WHERE team_id = ? AND device_id = ? AND hour > ? ORDER BY hour",
    [teamId, deviceId, Math.floor(now / HOUR_MS) - hours],
  );
}

/** Deletes about `limit` hours that are too old. Returns their number. */
export async function deleteOldHours(db: Database, now: number, limit: number): Promise<number> {
  const oldest = Math.floor(now / HOUR_MS) - HISTORY_HOURS;
  const key = "team_id, device_id, hour";
  const some = `SELECT ${key} FROM device_hours WHERE hour < ? ORDER BY hour LIMIT ${ROWS_CHANGED}`;
  return changeInTurns(db, `DELETE FROM device_hours WHERE (${key}) IN (${some})`, [oldest], limit);
}

/** Removes the warning that two devices seem to use the same credential. */
export async function clearConflict(
  db: Database,
  { now, actor, teamId }: Change,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  await db.write(async (tx) => {
    const rows = await tx.all(
      "UPDATE device_states SET conflict_at = NULL WHERE team_id = ? AND device_id = ? AND conflict_at IS NOT NULL RETURNING 1 AS done",
      [teamId, id],
    );
    if (rows.length > 0) await audit(tx, now, actor, "device.conflict_cleared", teamId, `${id} ${name}`);
  });
}
