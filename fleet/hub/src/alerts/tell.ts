/**
 * Turns alerts into queued messages. Alerts of one rule that open within some seconds share one message, and so do
 * alerts that end within some seconds. A silence holds alerts back. When the silence ends, a message names the alerts
 * that are still open. One transaction queues a message and marks its alerts as sent.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database, Queries } from "boxwright-service/database";
import { newId } from "../core/ids.ts";
import { isOfDevices } from "../nouns/alert-kind.ts";
import type { AlertRule } from "../nouns/alert-rule.ts";
import { NOT_SILENT } from "../nouns/alert-silence.ts";
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
/** Largest number of rows that one statement changes. The comment in watch.ts explains these limits. */
const ROWS_A_TURN = { sqlite: 500, postgres: 20_000 };

/**
 * Messages about new alerts: the condition that selects the alerts, the column with the start time, and the column for
 * the time of the message.
 */
const BEGIN = {
  type: "alert.began",
  where: "a.told_at IS NULL AND a.ended_at IS NULL",
  at: "began_at",
  note: "told_at",
};
/** Messages about ended alerts. An alert whose opening was never sent gets no message about its end. */
const END = {
  ...{ type: "alert.ended", where: "a.told_at IS NOT NULL AND a.ended_at IS NOT NULL AND a.end_told_at IS NULL" },
  ...{ at: "ended_at", note: "end_told_at" },
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
    const from = `FROM alerts a WHERE a.rule_id = ? AND ${news.where} AND ${NOT_SILENT}`;
    const [due] = await db.all<{ oldest: number | null }>(`SELECT min(a.${news.at}) AS oldest ${from}`, [rule.id, now]);
    const oldest = due?.oldest ?? null;
    if (oldest === null || now - oldest < this.#gatherMs(rule.id, now)) return false;
    await db.write(async (tx) => {
      const message = await readMessage(tx, { baseUrl, rule, from, now, type: news.type as AlertMessage["type"] });
      if (message === undefined) return;
      const some = `SELECT a.id ${from} LIMIT ${ROWS_A_TURN[db.kind]}`;
      const text = `UPDATE alerts SET ${news.note} = ? WHERE id IN (${some}) RETURNING 1 AS done`;
      while ((await tx.all(text, [now, rule.id, now])).length >= ROWS_A_TURN[db.kind]) await nextTurn();
      await queue(tx, rule, message, now);
    });
    this.#recent.set(rule.id, [...(this.#recent.get(rule.id) ?? []).filter((at) => now - at < RECENT_MS), now]);
    return true;
  }

  #gatherMs(ruleId: string, now: number): number {
    const recent = (this.#recent.get(ruleId) ?? []).filter((at) => Math.abs(now - at) < RECENT_MS);
    return recent.length < QUICK ? GATHER_MS : LONG_GATHER_MS;
  }
}

interface Wanted {
  readonly baseUrl: string;
  readonly rule: AlertRule;
  readonly from: string;
  readonly now: number;
  readonly type: AlertMessage["type"];
}

async function readMessage(tx: Queries, wanted: Wanted): Promise<AlertMessage | undefined> {
  const { baseUrl, rule, from, now, type } = wanted;
  const params = [rule.id, now];
  const [counted] = await tx.all<{ count: number }>(`SELECT count(*) AS count ${from}`, params);
  const [team] = await tx.all<{ id: string; name: string }>("SELECT id, name FROM teams WHERE id = ?", [rule.team_id]);
  const count = counted?.count ?? 0;
  if (count === 0 || team === undefined) return undefined;
  const rows = await tx.all<{ subject: string; subject_name: string; began_at: number }>(
    `SELECT a.subject AS subject, a.subject_name AS subject_name, a.began_at AS began_at ${from} ORDER BY a.began_at, a.subject LIMIT ${NAMED}`,
    params,
  );
  const sets = isOfDevices(rule.kind)
    ? {
        groups: await tx.all<{ id: string; name: string; count: number }>(
          "SELECT g.id AS id, g.name AS name, count(*) AS count FROM device_groups g " +
            "JOIN device_group_members m ON m.team_id = g.team_id AND m.group_id = g.id " +
            `WHERE g.team_id = ? AND m.device_id IN (SELECT a.subject ${from}) ` +
            `GROUP BY g.id, g.name ORDER BY count(*) DESC, g.name LIMIT ${SETS}`,
          [rule.team_id, ...params],
        ),
        tags: await tx.all<{ name: string; count: number }>(
          "SELECT t.tag AS name, count(*) AS count FROM device_tags t " +
            `WHERE t.team_id = ? AND t.device_id IN (SELECT a.subject ${from}) ` +
            `GROUP BY t.tag ORDER BY count(*) DESC, t.tag LIMIT ${SETS}`,
          [rule.team_id, ...params],
        ),
      }
    : { groups: [], tags: [] };
  const told = { kind: rule.kind, ended: type === "alert.ended", count, name: rows[0]!.subject_name, ...sets };
  const beganAt = (at: number): string => new Date(at).toISOString();
  return {
    type,
    timestamp: new Date(now).toISOString(),
    data: {
      title: titleOf(told),
      team,
      rule: { id: rule.id, name: rule.name, kind: rule.kind, threshold: rule.threshold },
      ...{ count, ...sets },
      subjects: rows.map((row) => ({ id: row.subject, name: row.subject_name, beganAt: beganAt(row.began_at) })),
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
