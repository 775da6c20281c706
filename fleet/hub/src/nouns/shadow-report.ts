/**
 * Reports of devices in a shadow, and the result over all devices. With N devices, one device counts for at most 2 / N
 * of the required frames. So a wrong report has limited effect, and half of the devices suffice.
 */
import type { Database, Queries } from "boxwright-service/database";
import { messageOf } from "boxwright-service/errors";
import { readShadowReport, type ShadowReport } from "boxwright-service/schema/shadow";
import { changeInTurns, ROWS_CHANGED } from "../database/slices.ts";
import type { Assignment } from "./assignment.ts";
import type { Shadow } from "./shadow.ts";
import { isInShadow, type ShadowTask } from "./shadow-task.ts";
import type { Desired } from "./waiting.ts";

const DAY_MS = 86_400_000;
/** Milliseconds for which reports are kept, longer than a step may wait. */
const KEPT_MS = 60 * DAY_MS;

/** "refused": the report of the device did not fit its schema. Such a report does not count. */
type ShadowState = ShadowReport["state"] | "refused";

interface Row {
  readonly device_id: string;
  readonly at: number;
  readonly state: ShadowState;
  readonly message: string;
  /** JSON of a valid report; null if the report was refused. */
  readonly report: string | null;
}

/** Last report of one device. */
export interface ShadowVote extends Omit<Row, "report"> {
  readonly report: ShadowReport | null;
}

type Read = Pick<Row, "state" | "message" | "report">;

/**
 * Stores a device's report on its shadow. Ignores a report about another roll-out or version than the device's task.
 * @param given report as it was received
 */
export async function noteShadow(
  db: Database,
  now: number,
  { teamId, deviceId }: { readonly teamId: string; readonly deviceId: string },
  task: ShadowTask | undefined,
  given: unknown,
): Promise<void> {
  const read = task && readVote(task, given);
  if (read === undefined) return;
  const { state, message, report } = read;
  const values = [teamId, task!.rolloutId, deviceId, now, state, message, report];
  const write = (tx: Queries): Promise<unknown> =>
    tx.all(
      "INSERT INTO shadow_reports (team_id, rollout_id, device_id, at, state, message, report) VALUES (?, ?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT (team_id, rollout_id, device_id) DO UPDATE SET " +
        "at = excluded.at, state = excluded.state, message = excluded.message, report = excluded.report",
      values,
    );
  // Do not sync the disk: after a power failure, the next heartbeat brings the same report.
  await db.write(write, { durable: false });
}

/** Returns the part of a report that is stored. Returns undefined if the report is about another task. */
function readVote({ rolloutId, etag, version }: ShadowTask, given: unknown): Read | undefined {
  try {
    const report = readShadowReport(given);
    const { rollout, version: shadowed, against, state, error } = report;
    if (rollout !== rolloutId || shadowed !== etag || against !== version.etag) return undefined;
    return { state, message: error?.message ?? "", report: JSON.stringify(report) };
  } catch (error) {
    return { state: "refused", message: messageOf(error).slice(0, 300), report: null };
  }
}

/** Returns the last reports of the devices in a roll-out, by device id. */
export async function shadowVotes(db: Queries, teamId: string, rolloutId: string): Promise<Map<string, ShadowVote>> {
  const rows = await db.all<Row>(
    "SELECT device_id, at, state, message, report FROM shadow_reports WHERE team_id = ? AND rollout_id = ?",
    [teamId, rolloutId],
  );
  const voteOf = (row: Row): ShadowVote => ({
    ...row,
    report: row.report === null ? null : (JSON.parse(row.report) as ShadowReport),
  });
  return new Map(rows.map((row) => [row.device_id, voteOf(row)]));
}

export interface Pair {
  readonly old: number | null;
  readonly new: number | null;
}

/** Result of a shadow over all devices. */
export interface ShadowResult {
  /** Number of devices that should compare. */
  readonly devices: number;
  readonly reported: number;
  readonly failed: number;
  readonly refused: number;
  /** Number of frames that count towards `min_frames`. */
  readonly frames: number;
  /** Agreement from 0 to 1; null if nothing was compared. */
  readonly agreement: number | null;
  /** Share of boxes whose class differs between the versions. */
  readonly changed: number | null;
  /**
   * Time per frame with the new version, divided by the time with the old one, on the median device: 1.2 is a fifth
   * slower.
   */
  readonly slowdown: number | null;
  readonly confidence: Pair;
  /** Milliseconds of decoding, on the median device. */
  readonly decodeMs: Pair;
  /** Bytes of memory, on the median device. */
  readonly memory: Pair;
}

/** Returns a count of the report as a share of all boxes that either version found; null if neither found a box. */
function shareOfBoxes(count: "matched" | "changed", report: ShadowReport): number | null {
  const found = report.matched + report.changed + report.only_old + report.only_new;
  return found === 0 ? null : report[count] / found;
}

/** Returns the share of a device's boxes on which both versions agree; null if neither version found a box. */
export const agreementOf = (report: ShadowReport): number | null => shareOfBoxes("matched", report);

/** Returns a share as a text: "95.0 %". */
export const percentText = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Sorts votes by agreement, the lowest first. Devices that cannot run the version come before all others. */
export function worstFirst(votes: readonly ShadowVote[]): ShadowVote[] {
  const rank = ({ state, report }: ShadowVote): number =>
    state === "failed" ? -2 : report === null ? -1 : (agreementOf(report) ?? 2);
  return votes.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Adds up the votes of devices.
 * @param ids devices that compare
 */
export function addVotes(
  { min_frames }: Shadow,
  ids: readonly string[],
  votes: ReadonlyMap<string, ShadowVote>,
): ShadowResult {
  const most = Math.ceil((2 * min_frames) / Math.max(1, ids.length));
  const all = ids.map((id) => votes.get(id)).filter((vote) => vote !== undefined);
  const reports = all.map(({ report }) => report).filter((report) => report !== null);
  /** Returns the weight of a report, in frames. A failure has the largest weight, and counts as an agreement of 0. */
  const weightOf = ({ state, frames, empty }: ShadowReport): number =>
    state === "failed" ? most : Math.min(frames - empty, most);
  const mean = (of: (report: ShadowReport) => number | null): number | null => {
    const known = reports.flatMap((report) => {
      const value = of(report);
      return value === null ? [] : [{ value, weight: weightOf(report) }];
    });
    const weight = known.reduce((sum, one) => sum + one.weight, 0);
    return weight === 0 ? null : known.reduce((sum, one) => sum + one.value * one.weight, 0) / weight;
  };
  const pair = (combine: typeof mean, of: (report: ShadowReport) => Pair): Pair => ({
    old: combine((report) => of(report).old),
    new: combine((report) => of(report).new),
  });
  const middle = (of: (report: ShadowReport) => number | null): number | null =>
    medianOf(reports.map(of).filter((value) => value !== null));
  return {
    devices: ids.length,
    reported: reports.length,
    failed: reports.filter(({ state }) => state === "failed").length,
    refused: all.filter(({ state }) => state === "refused").length,
    frames: reports.reduce((sum, report) => sum + weightOf(report), 0),
    agreement: mean((report) => (report.state === "failed" ? 0 : agreementOf(report))),
    changed: mean((report) => shareOfBoxes("changed", report)),
    slowdown: middle(({ frame_ms }) => (frame_ms.old ? (frame_ms.new ?? 0) / frame_ms.old : null)),
    confidence: pair(mean, ({ confidence }) => confidence),
    decodeMs: pair(middle, ({ decode_ms }) => decode_ms),
    memory: pair(middle, ({ memory }) => memory),
  };
}

function medianOf(values: number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Describes the result of a shadow in one line. */
export function shadowText({ agreement, frames, devices, reported, failed, slowdown }: ShadowResult): string {
  const agreed = agreement === null ? "nothing" : percentText(agreement);
  const parts = [`shadow: ${agreed} agree in ${frames} frames on ${reported} of ${devices} devices`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (slowdown !== null) parts.push(`a frame takes ${percentText(slowdown)} of its time`);
  return parts.join(", ");
}

/** Decision after a shadow: the roll-out waits, continues, or stops. */
export function judgeShadow(shadow: Shadow, { frames, agreement, slowdown }: ShadowResult): "wait" | "open" | "stop" {
  if (frames < shadow.min_frames || agreement === null) return "wait";
  const isAgreed = agreement * 100 >= shadow.min_agreement;
  const isFast = slowdown === null || slowdown * 100 <= 100 + shadow.max_slowdown;
  return isAgreed && isFast ? "open" : "stop";
}

/** The result of a roll-out's shadow, and the report of each device. */
interface ShadowReading {
  readonly result: ShadowResult;
  readonly votes: readonly ShadowVote[];
}

/** Reads the result of a roll-out's shadow. Once the shadow has ended, all devices that reported count. */
export async function readShadowResult(
  { db, desired }: { readonly db: Queries; readonly desired: Desired },
  teamId: string,
  rollout: Assignment,
  shadow: Shadow,
): Promise<ShadowReading> {
  const votes = await shadowVotes(db, teamId, rollout.rollout_id!);
  const tasks = isInShadow(rollout) ? [...(await desired.shadows(teamId))] : [];
  const ids = tasks.filter(([, { rolloutId }]) => rolloutId === rollout.rollout_id).map(([id]) => id);
  const counted = isInShadow(rollout) ? ids : [...votes.keys()];
  return { result: addVotes(shadow, counted, votes), votes: counted.flatMap((id) => votes.get(id) ?? []) };
}

/** Deletes about `limit` of the reports that are too old. */
export async function deleteOldShadows(db: Database, now: number, limit: number): Promise<void> {
  const key = "team_id, rollout_id, device_id";
  const some = `SELECT ${key} FROM shadow_reports WHERE at < ? LIMIT ${ROWS_CHANGED}`;
  await changeInTurns(db, `DELETE FROM shadow_reports WHERE (${key}) IN (${some})`, [now - KEPT_MS], limit);
}
