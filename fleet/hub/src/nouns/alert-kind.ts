/**
 * Table of the kinds of alert rules. Each row has the words for pages and messages, and the SQL condition that finds
 * the fault.
 */
import type { Value } from "boxwright-service/database";
import { IS_ONLINE, onlineBetween } from "./status.ts";

export type AlertKind = keyof typeof TABLE;

interface KindRow {
  /** Text in a list of rules. N stands for the threshold. */
  readonly label: string;
  /** Unit of the threshold; null for a kind without a threshold. */
  readonly unit: string | null;
  readonly least: number;
  readonly most: number;
  readonly usual: number;
  /** Words of a message that follow the name of one subject (`one`) or a count of subjects (`several`). */
  readonly one: string;
  readonly several: string;
  /** Noun for the subject in singular and plural. */
  readonly subject: readonly [string, string];
  /** Returns how many milliseconds the hub must have watched before a rule may open alerts. */
  readonly needs?: (threshold: number) => number;
  /** Returns an SQL condition that is true for subjects with the fault, and the parameters of the condition. */
  readonly where: (threshold: number, now: number) => { readonly sql: string; readonly params: readonly Value[] };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DEVICE: readonly [string, string] = ["device", "devices"];

/** Returns the condition for online devices that also meet another condition. */
const online = (now: number, sql: string, ...params: Value[]) => ({
  sql: `${IS_ONLINE} = 1 AND ${sql}`,
  params: [...onlineBetween(now), ...params],
});

const TABLE = {
  device_offline: {
    ...{ label: "Device offline for N minutes", unit: "minutes", least: 1, most: 43_200, usual: 5, subject: DEVICE },
    ...{ one: "is offline", several: "are offline" },
    // Give devices time to report: just after its start, the hub has not heard from any device.
    needs: (minutes) => minutes * MINUTE_MS,
    where: (minutes, now) => ({
      sql: "s.revoked_at IS NULL AND s.last_contact_at < ? AND s.last_contact_at + 3000 * s.beat_seconds < ?",
      params: [now - minutes * MINUTE_MS, now],
    }),
  },
  no_frames: {
    ...{ label: "No frames for N minutes", unit: "minutes", least: 1, most: 43_200, usual: 10, subject: DEVICE },
    ...{ one: "is online without frames", several: "are online without frames" },
    where: (minutes, now) =>
      online(
        now,
        "s.paused_at IS NULL AND s.online_since < ? AND coalesce(s.frames_at, 0) < ?",
        now - minutes * MINUTE_MS,
        now - minutes * MINUTE_MS,
      ),
  },
  frames_lost: {
    ...{ label: "N frames dropped or lost in an hour", unit: "frames", least: 1, most: 1e9, usual: 1000 },
    ...{ subject: DEVICE, one: "drops or loses frames", several: "drop or lose frames" },
    where: (frames, now) => {
      const hour = Math.floor(now / HOUR_MS);
      return {
        sql:
          "(s.hour >= ? AND s.drops >= ? OR EXISTS (SELECT 1 FROM device_hours h WHERE h.team_id = s.team_id " +
          "AND h.device_id = s.device_id AND h.hour = ? AND h.drops >= ?))",
        params: [hour - 1, frames, hour - 1, frames],
      };
    },
  },
  spool_full: {
    ...{ label: "Spool N per cent full", unit: "per cent", least: 1, most: 100, usual: 80, subject: DEVICE },
    ...{ one: "has a nearly full spool", several: "have a nearly full spool" },
    where: (percent, now) => online(now, "s.spool_percent >= ?", percent),
  },
  version_failed: {
    ...{ label: "Version that cannot run", unit: null, least: 0, most: 0, usual: 0, subject: DEVICE },
    ...{ one: "cannot run its version", several: "cannot run their version" },
    where: () => ({ sql: "s.revoked_at IS NULL AND s.application_state = 'failed'", params: [] }),
  },
  clock_wrong: {
    ...{ label: "Clock wrong by N seconds", unit: "seconds", least: 10, most: 1e9, usual: 60, subject: DEVICE },
    ...{ one: "has a wrong clock", several: "have a wrong clock" },
    where: (seconds, now) =>
      online(now, "(s.clock_difference > ? OR s.clock_difference < ?)", seconds * 1000, -seconds * 1000),
  },
  rollout_stopped: {
    ...{ label: "Roll-out stopped", unit: null, least: 0, most: 0, usual: 0 },
    ...{
      subject: ["group or tag", "groups or tags"],
      one: "has a stopped roll-out",
      several: "have a stopped roll-out",
    },
    where: () => ({ sql: "s.rollout_state = 'stopped'", params: [] }),
  },
  key_expiring: {
    ...{ label: "Key that expires within N days", unit: "days", least: 1, most: 365, usual: 7 },
    ...{ subject: ["key", "keys"], one: "expires soon", several: "expire soon" },
    where: (days, now) => ({
      sql: "s.revoked_at IS NULL AND s.expires_at > ? AND s.expires_at < ?",
      params: [now, now + days * DAY_MS],
    }),
  },
} as const satisfies Readonly<Record<string, KindRow>>;

export const KINDS: Readonly<Record<AlertKind, KindRow>> = TABLE;

export const isKind = (text: string): text is AlertKind => Object.hasOwn(KINDS, text);
/** True if rules of the kind watch devices, so that a rule may name a group or a tag of devices. */
export const isOfDevices = (kind: AlertKind): boolean => KINDS[kind].subject === DEVICE;

/**
 * Returns the FROM clause of a kind. Its table `d` has team_id, id and name of the subject. Its table `s` has the
 * columns of the conditions.
 */
export function sourceOf(kind: AlertKind): string {
  if (isOfDevices(kind)) return "devices d JOIN device_states s ON s.team_id = d.team_id AND s.device_id = d.id";
  if (kind === "rollout_stopped")
    // A target may have two roll-outs, of its network and of its agent. `max` finds "stopped" if one of them is
    // stopped.
    return (
      `(${ROLLOUT_TARGETS.join(" UNION ALL ")}) d ` +
      "JOIN (SELECT team_id, kind, target_id, max(rollout_state) AS rollout_state FROM assignments " +
      "GROUP BY team_id, kind, target_id) s ON s.team_id = d.team_id AND s.kind = d.kind AND s.target_id = d.target_id"
    );
  return `(${KEYS.join(" UNION ALL ")}) d JOIN (${KEYS.join(" UNION ALL ")}) s ON s.team_id = d.team_id AND s.id = d.id`;
}

/** The prefix `tag:` keeps the ids of tags apart from the ids of groups. */
const ROLLOUT_TARGETS = [
  "SELECT team_id, 'group' AS kind, id AS target_id, id, name FROM device_groups",
  "SELECT DISTINCT team_id, kind, target_id, 'tag:' || target_id, 'tag ' || target_id FROM assignments WHERE kind = 'tag'",
];

const KEYS = [
  "SELECT team_id, id, name, expires_at, CASE WHEN used >= max_devices THEN created_at ELSE revoked_at END AS revoked_at FROM adopt_keys",
  // Treat a rotated key as revoked: its end is no fault, since another key replaces it.
  "SELECT team_id, id, name, expires_at, CASE WHEN replaced_by IS NULL THEN revoked_at ELSE created_at END AS revoked_at FROM api_keys",
];

/** Returns the label of a kind with the threshold in place of N. This is the default name of a rule. */
export const ruleText = (kind: AlertKind, threshold: number): string =>
  KINDS[kind].label.replace(/\bN\b/, String(threshold)).replace(/(?<=\b1 \w+)s\b/, "");
