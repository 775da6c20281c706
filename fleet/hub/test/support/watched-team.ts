/** A team with devices in a database, watched by a hub that has no port and a clock of its own. */
import type { DeliveryLimits } from "boxwright-service/delivery";
import { onTestFinished } from "vitest";
import { createLogger } from "../../src/core/log.ts";
import { readConfig } from "../../src/core/config.ts";
import { createMetrics } from "../../src/core/metrics.ts";
import { Alerts } from "../../src/alerts/alerts.ts";
import { createRule, type NewAlertRule } from "../../src/nouns/alert-rule.ts";
import { createChannel, type NewChannel } from "../../src/nouns/alert-channel.ts";
import { addToGroup, createGroup } from "../../src/nouns/group.ts";
import { addTeam } from "../../src/nouns/team.ts";
import type { AlertMessage } from "../../src/alerts/words.ts";
import { NOW, type TestDatabase } from "./hub.ts";

export const SECOND = 1000;
export const MINUTE = 60_000;

/** @param own limits of the delivery of messages */
export async function watchedTeam(
  { db }: TestDatabase,
  env: Record<string, string> = {},
  own: Partial<DeliveryLimits> = {},
) {
  const team = await addTeam(db, NOW, "test", "Crew");
  let now = NOW;
  let logs = "";
  const config = readConfig({ HUB_WEBHOOK_ADDRESSES: "any", ...env });
  const log = createLogger("info", { write: (line: string) => void (logs += line) });
  const needs = {
    db,
    log,
    config,
    now: () => now,
    elapsed: () => now,
    metrics: createMetrics(),
    baseUrl: "http://hub",
  };
  const limits = { watchMs: 5, deliverMs: 5 };
  const delivery = { lookMs: 5, retryMs: 5, longestMs: 20, leaseMs: 1000, ...own };
  const change = () => ({ now, actor: "test", teamId: team.id });
  const all: Alerts[] = [];
  const newAlerts = (): Alerts => {
    const alerts = new Alerts(needs, limits, delivery);
    all.push(alerts);
    return alerts;
  };
  onTestFinished(async () => void (await Promise.all(all.map((one) => one.stop()))));
  let alerts = newAlerts();

  /** Writes states of devices as heartbeats would. */
  const set = (ids: readonly string[], columns: Record<string, string | number | null>): Promise<void> =>
    db.write(async (tx) => {
      const names = Object.keys(columns);
      for (const id of ids)
        await tx.all(`UPDATE device_states SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE device_id = ?`, [
          ...[...names.map((name) => columns[name]!), id],
        ]);
    });
  return {
    ...{ team, db, change, set, newAlerts, needs },
    logs: () => logs,
    now: () => now,
    /** Lets the hub be killed and started anew. */
    restart: async () => {
      await alerts.stop();
      alerts = newAlerts();
    },
    start: () => alerts.start(),
    watch: () => alerts.watch(),
    /** Lets time pass. Devices named in `alive` go on to send heartbeats. */
    pass: async (milliseconds: number, alive: readonly string[] = [], step = 5 * SECOND) => {
      for (let left = milliseconds; left > 0; left -= step) {
        now += Math.min(step, left);
        if (alive.length > 0) await set(alive, { last_contact_at: now, frames_at: now });
        await alerts.watch();
      }
    },
    devices: async (ids: readonly string[], nameOf = (id: string): string => `Camera ${id}`) => {
      await db.write(async (tx) => {
        for (const id of ids) {
          await tx.all("INSERT INTO devices (team_id, id, name, created_at) VALUES (?, ?, ?, ?)", [
            ...[team.id, id, nameOf(id), now],
          ]);
          await tx.all(
            "INSERT INTO device_states (team_id, device_id, enrolled_at, enrolled_by, model, architecture, version, last_contact_at, online_since, counter, application_state, contacts, restarts, drops, frames_at) VALUES (?, ?, ?, 'k', 'Pi', 'arm64', '1', ?, ?, 1, 'none', 0, 0, 0, ?)",
            [team.id, id, now, now, now, now],
          );
        }
      });
    },
    group: async (name: string, ids: readonly string[]) => {
      const group = await createGroup(db, change(), name);
      await addToGroup(db, change(), group.id, ids);
      return group;
    },
    rule: (given: NewAlertRule) => createRule(db, change(), given),
    channel: (given: Partial<NewChannel>) => createChannel(db, config, change(), { name: "night", ...given }),
    /** Messages that wait, the oldest first. */
    queued: async (): Promise<AlertMessage[]> =>
      (await db.all<{ body: string }>("SELECT body FROM alert_messages ORDER BY at, id")).map(
        ({ body }) => JSON.parse(body) as AlertMessage,
      ),
  };
}
