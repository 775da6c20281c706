/** Alert rules of a team. A rule states a fault, the devices to watch, and the channels that get messages. */
import type { Database, Queries } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { needChannel } from "./alert-channel.ts";
import { isKind, isOfDevices, KINDS, ruleText, type AlertKind } from "./alert-kind.ts";
import { audit, type Change } from "./audit.ts";
import { readTags } from "./device-tag.ts";
import { findGroup } from "./group.ts";
import { checkRoom, noSuch } from "./rows.ts";
import { cleanName } from "./text.ts";

const MAX_RULES = 50;

export interface AlertRule {
  readonly id: string;
  readonly team_id: string;
  readonly name: string;
  readonly kind: AlertKind;
  readonly threshold: number;
  /** Group whose devices the rule watches; null for all devices of the team. */
  readonly group_id: string | null;
  /** Tag whose devices the rule watches; null for devices with or without tags. */
  readonly tag: string | null;
  /** Channel that gets the messages; null for all channels of the team. */
  readonly channel_id: string | null;
}

const COLUMNS = "id, team_id, name, kind, threshold, group_id, tag, channel_id";

export interface NewAlertRule {
  /** Default: a name made of kind and threshold. */
  readonly name?: string | undefined;
  readonly kind: string;
  /** Default: the usual threshold of the kind. */
  readonly threshold?: number | undefined;
  readonly groupId?: string | undefined;
  readonly tag?: string | undefined;
  readonly channelId?: string | undefined;
}

export function listRules(db: Queries, teamId: string): Promise<AlertRule[]> {
  return db.all<AlertRule>(`SELECT ${COLUMNS} FROM alert_rules WHERE team_id = ? ORDER BY id`, [teamId]);
}

/** Returns the rules of all teams. */
export function allRules(db: Queries): Promise<AlertRule[]> {
  return db.all<AlertRule>(`SELECT ${COLUMNS} FROM alert_rules ORDER BY team_id, id`);
}

function readThreshold(kind: AlertKind, threshold: number | undefined): number {
  const { unit, least, most, usual } = KINDS[kind];
  if (unit === null) return 0;
  if (threshold === undefined) return usual;
  if (Number.isInteger(threshold) && threshold >= least && threshold <= most) return threshold;
  throw new UserError(
    `threshold: got ${threshold}, expected ${least} to ${most} ${unit}`,
    400,
    `Enter ${least} to ${most} ${unit}.`,
  );
}

export async function createRule(
  db: Database,
  { now, actor, teamId }: Change,
  given: NewAlertRule,
): Promise<AlertRule> {
  const { kind } = given;
  if (!isKind(kind)) {
    const known = Object.keys(KINDS).join(", ");
    throw new UserError(
      `kind: got ${JSON.stringify(kind.slice(0, 40))}, expected one of ${known}`,
      400,
      "Choose a rule.",
    );
  }
  const threshold = readThreshold(kind, given.threshold);
  const rule: AlertRule = {
    ...{ id: newId(now), team_id: teamId, kind, threshold },
    name: cleanName(given.name ?? ruleText(kind, threshold), "alert rule name"),
    group_id: given.groupId ?? null,
    tag: given.tag === undefined ? null : readTags([given.tag])[0]!,
    channel_id: given.channelId ?? null,
  };
  await db.write(async (tx) => {
    await checkPlaces(tx, rule, rule);
    await checkRoom(tx, "alert_rules", teamId, MAX_RULES, "alert rule");
    await tx.all(`INSERT INTO alert_rules (${COLUMNS}, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
      ...[rule.id, teamId, rule.name, kind, threshold],
      ...[rule.group_id, rule.tag, rule.channel_id, actor, now],
    ]);
    await audit(tx, now, actor, "alert_rule.created", teamId, `${rule.id} ${rule.name}`);
  });
  return rule;
}

type Places = Pick<AlertRule, "group_id" | "tag" | "channel_id">;

/**
 * Throws if the changed group, tag or channel does not exist, or does not fit the rule's kind.
 * @param changed fields that the change sets. Other fields are not checked, since a deleted group may stay in a rule
 */
async function checkPlaces(tx: Queries, { team_id, kind }: AlertRule, changed: Partial<Places>): Promise<void> {
  const { group_id = null, tag = null, channel_id = null } = changed;
  if (!isOfDevices(kind) && (group_id !== null || tag !== null))
    throw new UserError(`group or tag: got one for ${kind}, expected none: it is not about devices`, 400);
  if (group_id !== null && (await findGroup(tx, team_id, group_id)) === undefined) throw noSuch("group", group_id);
  if (channel_id !== null) await needChannel(tx, team_id, channel_id);
}

/**
 * A change of a rule. An undefined field is not changed, and null restores the default. The kind cannot change, since
 * each alert of the rule states the kind too.
 */
export interface AlertRuleChange {
  readonly name?: string | null | undefined;
  readonly threshold?: number | null | undefined;
  readonly groupId?: string | null | undefined;
  readonly tag?: string | null | undefined;
  readonly channelId?: string | null | undefined;
}

/**
 * Changes a rule. A name made from kind and threshold follows the new threshold. Open alerts stay open until the
 * changed rule no longer finds their faults.
 */
export async function updateRule(
  db: Database,
  { now, actor, teamId }: Change,
  id: string,
  given: AlertRuleChange,
): Promise<AlertRule> {
  return db.write(async (tx) => {
    const old = await needRule(tx, teamId, id);
    const { kind } = old;
    const threshold = given.threshold === undefined ? old.threshold : readThreshold(kind, given.threshold ?? undefined);
    const kept = old.name === ruleText(kind, old.threshold) ? null : old.name;
    const name = given.name === undefined ? kept : given.name;
    const rule: AlertRule = {
      ...{ id, team_id: teamId, kind, threshold },
      name: cleanName(name ?? ruleText(kind, threshold), "alert rule name"),
      group_id: given.groupId === undefined ? old.group_id : given.groupId,
      tag: given.tag === undefined ? old.tag : given.tag === null ? null : readTags([given.tag])[0]!,
      channel_id: given.channelId === undefined ? old.channel_id : given.channelId,
    };
    const changed = (Object.keys(rule) as (keyof AlertRule)[]).filter((column) => rule[column] !== old[column]);
    if (changed.length === 0) return old;
    await checkPlaces(tx, rule, Object.fromEntries(changed.map((column) => [column, rule[column]])));
    await tx.all(
      "UPDATE alert_rules SET name = ?, threshold = ?, group_id = ?, tag = ?, channel_id = ? WHERE team_id = ? AND id = ?",
      [...[rule.name, threshold, rule.group_id, rule.tag, rule.channel_id], ...[teamId, id]],
    );
    await audit(tx, now, actor, "alert_rule.updated", teamId, `${id} ${rule.name}: ${changed.join(" ")}`);
    return rule;
  });
}

/** Deletes a rule. Its open alerts end without a message. */
export async function deleteRule(db: Database, { now, actor, teamId }: Change, id: string): Promise<AlertRule> {
  return db.write(async (tx) => {
    const [rule] = await tx.all<AlertRule>(
      `DELETE FROM alert_rules WHERE team_id = ? AND id = ? RETURNING ${COLUMNS}`,
      [...[teamId, id]],
    );
    if (rule === undefined) throw noSuch("alert rule", id);
    await tx.all("UPDATE alerts SET ended_at = ? WHERE rule_id = ? AND ended_at IS NULL", [now, id]);
    await tx.all(
      "UPDATE alerts SET told_at = coalesce(told_at, ended_at), end_told_at = ended_at WHERE rule_id = ? AND end_told_at IS NULL",
      [id],
    );
    await tx.all("DELETE FROM alert_silences WHERE team_id = ? AND kind = 'rule' AND target_id = ?", [teamId, id]);
    await audit(tx, now, actor, "alert_rule.deleted", teamId, `${id} ${rule.name}`);
    return rule;
  });
}

/** Returns a rule of the team. Throws if there is none. */
export async function needRule(tx: Queries, teamId: string, id: string): Promise<AlertRule> {
  const [rule] = await tx.all<AlertRule>(`SELECT ${COLUMNS} FROM alert_rules WHERE team_id = ? AND id = ?`, [
    ...[teamId, id],
  ]);
  if (rule === undefined) throw noSuch("alert rule", id);
  return rule;
}
