/**
 * Silences of a team. A silence holds back messages about new alerts of a rule, a device, a group, or the devices with
 * a tag.
 */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { needRule } from "./alert-rule.ts";
import { audit, type Change } from "./audit.ts";
import { needTarget, tagTarget, type TargetKind } from "./target.ts";

const MINUTE_MS = 60_000;
/** Largest number of minutes of a silence: 30 days. */
const MAX_MINUTES = 43_200;

export type SilenceKind = "rule" | TargetKind;

export interface Silence {
  readonly kind: SilenceKind;
  /** Id of the rule, device or group, or the tag itself. */
  readonly target_id: string;
  readonly until: number;
}

/**
 * SQL condition that is true for an alert `a` that no silence holds back. Its parameter is the time. For a stopped
 * roll-out, the subject of the alert is a group's id, or `tag:` and a tag.
 */
export const NOT_SILENT =
  "NOT EXISTS (SELECT 1 FROM alert_silences q WHERE q.team_id = a.team_id AND q.until > ? AND (" +
  "q.kind = 'rule' AND q.target_id = a.rule_id OR " +
  "q.kind IN ('device', 'group') AND q.target_id = a.subject OR " +
  "q.kind = 'group' AND EXISTS (SELECT 1 FROM device_group_members m " +
  "WHERE m.team_id = a.team_id AND m.group_id = q.target_id AND m.device_id = a.subject) OR " +
  "q.kind = 'tag' AND (a.subject = 'tag:' || q.target_id OR EXISTS (SELECT 1 FROM device_tags t " +
  "WHERE t.team_id = a.team_id AND t.tag = q.target_id AND t.device_id = a.subject))))";

/** Returns the silences that have not ended. */
export function listSilences(db: Queries, teamId: string, now: number): Promise<Silence[]> {
  return db.all<Silence>(
    "SELECT kind, target_id, until FROM alert_silences WHERE team_id = ? AND until > ? ORDER BY until, kind, target_id",
    [teamId, now],
  );
}

/**
 * Holds back messages about new alerts of a rule, a device, a group or a tag for some minutes; with 0 minutes, ends a
 * silence. Alerts are still stored. When the silence ends, a message names the alerts that are still open.
 */
export async function silence(
  db: Database,
  { now, actor, teamId }: Change,
  { kind, id: given, minutes }: { readonly kind: SilenceKind; readonly id: string; readonly minutes: number },
): Promise<number | null> {
  if (!Number.isInteger(minutes) || minutes < 0 || minutes > MAX_MINUTES)
    throw new UserError(
      `minutes: got ${minutes}, expected 0 to ${MAX_MINUTES}`,
      400,
      `Enter 0 to ${MAX_MINUTES} minutes.`,
    );
  const id = kind === "tag" ? tagTarget(given).id : given;
  const until = now + minutes * MINUTE_MS;
  await db.write(async (tx) => {
    // Delete ended silences, since nothing reads them.
    await tx.all("DELETE FROM alert_silences WHERE team_id = ? AND until <= ?", [teamId, now]);
    const ended = await tx.all(
      "DELETE FROM alert_silences WHERE team_id = ? AND kind = ? AND target_id = ? RETURNING 1 AS done",
      [teamId, kind, id],
    );
    // Allow ending a silence whose target is gone: a tag disappears with its last device.
    if (minutes > 0 || ended.length === 0)
      await (kind === "rule" ? needRule(tx, teamId, id) : needTarget(tx, teamId, { kind, id }));
    if (minutes > 0)
      await tx.all("INSERT INTO alert_silences (team_id, kind, target_id, until) VALUES (?, ?, ?, ?)", [
        ...[teamId, kind, id, until],
      ]);
    const length = minutes === 1 ? "1 minute" : `${minutes} minutes`;
    await audit(tx, now, actor, "alert.silenced", teamId, `${kind} ${id} ${length}`);
  });
  return minutes === 0 ? null : until;
}
