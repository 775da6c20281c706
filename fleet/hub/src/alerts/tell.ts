/**
 * Turns alerts into queued messages. Alerts of one rule that open within some seconds share one message, and so do
 * alerts that end within some seconds. A silence holds back the starts of alerts. When the silence ends, a message
 * names the alerts that are still open. One transaction queues a message and marks its alerts as sent.
 */
import type { Database, Queries } from "boxwright-service/database";
import { newId } from "../core/ids.ts";
import { eachSlice, isInSlice, ROWS_CHANGED } from "../database/slices.ts";
import { isOfDevices } from "../nouns/alert-kind.ts";
import type { AlertRule } from "../nouns/alert-rule.ts";
import { NOT_SILENT } from "../nouns/alert-silence.ts";
import { tagsOfMany } from "../nouns/device-tag.ts";
import { groupsOfMany } from "../nouns/group.ts";
import { titleOf, type AlertMessage } from "./words.ts";

/**
 * Milliseconds that an alert waits for other alerts to share its message. When a site loses its network, all of its
 * devices go offline within half a minute.
 */
export const GATHER_MS = 15_000;
/** Milliseconds that an alert waits if its rule has sent `QUICK` messages within the last `RECENT_MS`. */
const LONG_GATHER_MS = 300_000;
const QUICK = 4;
const RECENT_MS = 600_000;
/** Largest number of devices, groups or keys that a message names. */
const NAMED = 50;
/** Largest number of groups that a message names, and largest number of tags. */
const SETS = 20;

/**
 * Messages about new alerts: the condition that selects the alerts, the condition for those of them that are told now,
 * the column with the start time, and the column for the time of the message.
 */
const BEGIN = {
  type: "alert.began",
  where: "a.told_at IS NULL AND a.ended_at IS NULL",
  heard: NOT_SILENT,
  at: "began_at",
  note: "told_at",
};
/**
 * Messages about ended alerts. An alert whose start was never sent gets no message about its end. A silence holds back
 * no end: a receiver that heard of the start would keep its incident open for good.
 */
const END = {
  ...{ type: "alert.ended", where: "a.told_at IS NOT NULL AND a.ended_at IS NOT NULL AND a.end_told_at IS NULL" },
  // Name the time all the same: both conditions have the same parameter.
  ...{ heard: "a.ended_at <= ?", at: "ended_at", note: "end_told_at" },
};

export interface Place {
  readonly db: Database;
  readonly baseUrl: string;
}

export class Teller {
  /** Times at which each rule recently sent messages. */
  readonly #recent = new Map<string, number[]>();

  /**
   * Queues a message about a rule's new alerts and a message about its ended alerts, each once the oldest of these
   * alerts has waited long enough. Returns true if a message was queued.
   */
  async tell(place: Place, rule: AlertRule, now: number): Promise<boolean> {
    let isTold = false;
    for (const news of [BEGIN, END]) isTold = (await this.#tell(place, rule, news, now)) || isTold;
    return isTold;
  }

  async #tell({ db, baseUrl }: Place, rule: AlertRule, news: typeof BEGIN, now: number): Promise<boolean> {
    const all = { id: "a.id", from: `FROM alerts a WHERE a.rule_id = ? AND ${news.where}`, params: [rule.id] };
    const heard = `${all.from} AND ${isInSlice("a.id")} AND ${news.heard}`;
    let oldest = Infinity;
    await eachSlice(db, all, async (slice) => {
      const text = `SELECT min(a.${news.at}) AS at ${heard}`;
      const [first] = await db.all<{ at: number | null }>(text, [rule.id, ...slice, now]);
      oldest = Math.min(oldest, first?.at ?? Infinity);
    });
    if (now - oldest < this.#gatherMs(rule.id, now)) return false;
    await db.write(async (tx) => {
      const text =
        `UPDATE alerts SET ${news.note} = ? WHERE id IN (SELECT a.id ${heard}) ` +
        "RETURNING id, subject, subject_name, began_at";
      const told: Told = { count: 0, named: [], groups: new Map(), tags: new Map() };
      await eachSlice(tx, { ...all, rows: ROWS_CHANGED }, async (slice) => {
        await addAlerts(tx, rule, told, await tx.all<ToldAlert>(text, [now, rule.id, ...slice, now]));
      });
      const message = await messageOf(tx, { baseUrl, rule, now, type: news.type as AlertMessage["type"] }, told);
      if (message !== undefined) await queue(tx, rule, message, now);
    });
    this.#recent.set(rule.id, [...(this.#recent.get(rule.id) ?? []).filter((at) => now - at < RECENT_MS), now]);
    return true;
  }

  #gatherMs(ruleId: string, now: number): number {
    const recent = (this.#recent.get(ruleId) ?? []).filter((at) => Math.abs(now - at) < RECENT_MS);
    return recent.length < QUICK ? GATHER_MS : LONG_GATHER_MS;
  }
}

interface ToldAlert {
  readonly id: string;
  readonly subject: string;
  readonly subject_name: string;
  readonly began_at: number;
}

interface Counted {
  readonly name: string;
  readonly count: number;
}

/** Content of a message about alerts. */
interface Told {
  count: number;
  /** The alerts that the message names. */
  named: readonly ToldAlert[];
  /** Numbers of devices: by the id of a group, and by tag. */
  readonly groups: Map<string, Counted & { readonly id: string }>;
  readonly tags: Map<string, Counted>;
}

/** Adds a slice of alerts to what a message says. */
async function addAlerts(tx: Queries, { team_id, kind }: AlertRule, told: Told, alerts: ToldAlert[]): Promise<void> {
  told.count += alerts.length;
  // Sort, since the database returns changed rows in any order.
  alerts.sort((a, b) => (a.id < b.id ? -1 : 1));
  told.named = [...told.named, ...alerts].slice(0, NAMED);
  if (isOfDevices(kind)) await countSets(tx, team_id, alerts, told);
}

async function countSets(tx: Queries, teamId: string, alerts: readonly ToldAlert[], told: Told): Promise<void> {
  const ids = alerts.map(({ subject }) => subject);
  for (const groups of (await groupsOfMany(tx, teamId, ids)).values())
    for (const { id, name } of groups) told.groups.set(id, { id, name, count: (told.groups.get(id)?.count ?? 0) + 1 });
  for (const tags of (await tagsOfMany(tx, teamId, ids)).values())
    for (const name of tags) told.tags.set(name, { name, count: (told.tags.get(name)?.count ?? 0) + 1 });
}

/** Returns the SETS largest sets, the largest first. */
const largest = <T extends Counted>(sets: ReadonlyMap<string, T>): T[] =>
  [...sets.values()].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)).slice(0, SETS);

interface Wanted {
  readonly baseUrl: string;
  readonly rule: AlertRule;
  readonly now: number;
  readonly type: AlertMessage["type"];
}

async function messageOf(tx: Queries, wanted: Wanted, told: Told): Promise<AlertMessage | undefined> {
  const { baseUrl, rule, now, type } = wanted;
  const { count, named } = told;
  const [team] = await tx.all<{ id: string; name: string }>("SELECT id, name FROM teams WHERE id = ?", [rule.team_id]);
  if (count === 0 || team === undefined) return undefined;
  const sets = { groups: largest(told.groups), tags: largest(told.tags) };
  const ended = type === "alert.ended";
  const title = titleOf({ kind: rule.kind, ended, count, name: named[0]!.subject_name, ...sets });
  return {
    type,
    timestamp: new Date(now).toISOString(),
    data: {
      ...{ title, team },
      rule: { id: rule.id, name: rule.name, kind: rule.kind, threshold: rule.threshold },
      ...{ count, ...sets },
      subjects: named.map(({ subject, subject_name, began_at }) => ({
        ...{ id: subject, name: subject_name, beganAt: new Date(began_at).toISOString() },
      })),
      url: `${baseUrl}/teams/${team.id}/alerts`,
    },
  };
}

/** Queues a message for the channel of a rule, or for all channels of the team if the rule names no channel. */
async function queue(tx: Queries, rule: AlertRule, message: AlertMessage, now: number): Promise<void> {
  const channels =
    rule.channel_id === null
      ? await tx.all<{ id: string }>("SELECT id FROM alert_channels WHERE team_id = ? ORDER BY id", [rule.team_id])
      : [{ id: rule.channel_id }];
  for (const { id } of channels) await queueFor(tx, rule.team_id, id, message, now);
}

export async function queueFor(
  tx: Queries,
  teamId: string,
  channelId: string,
  message: AlertMessage,
  now: number,
): Promise<void> {
  await tx.all("INSERT INTO alert_messages (channel_id, at, id, team_id, body) VALUES (?, ?, ?, ?, ?)", [
    ...[channelId, now, `msg_${newId(now)}`, teamId, JSON.stringify(message)],
  ]);
}

/** Queues a test message for a channel. */
export async function queueTest(
  db: Database,
  baseUrl: string,
  now: number,
  { team, channelId }: { readonly team: { readonly id: string; readonly name: string }; readonly channelId: string },
): Promise<void> {
  const { id, name } = team;
  await db.write((tx) =>
    queueFor(
      tx,
      id,
      channelId,
      {
        type: "alert.test",
        timestamp: new Date(now).toISOString(),
        data: {
          ...{ title: "Test: messages about alerts arrive", team: { id, name }, rule: null },
          ...{ count: 0, groups: [], tags: [], subjects: [], url: `${baseUrl}/teams/${id}/alerts` },
        },
      },
      now,
    ),
  );
}
