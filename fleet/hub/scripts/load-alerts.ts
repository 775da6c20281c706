/**
 * Load report of alerts: `npm run load:alerts`, on SQLite and PostgreSQL. A backend asks for the device list of a team
 * of 25 devices, 80 times a second, while 10,000 devices of another team
 *
 * - go offline, their last heartbeats spread evenly over the time between two heartbeats, as at a real site;
 * - go offline, their last heartbeats in the same millisecond;
 * - come back.
 *
 * The devices go offline because the script writes old heartbeat times to the database. They come back by real
 * heartbeats. A web server of this script gets the messages. The report fails if a device is in no message, or in two.
 *
 * The report takes about 6 minutes for each database. `-- --sqlite` and `-- --postgres` report on one database. With
 * `--turns`, the report compares the p99 of quiet times with that of the times after all devices go offline, in turns.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "boxwright-service/database";
import type { AlertMessage } from "../src/alerts/words.ts";
import { createChannel } from "../src/nouns/alert-channel.ts";
import { createRule, deleteRule, type AlertRule } from "../src/nouns/alert-rule.ts";
import { HubProcess } from "../test/support/process.ts";
import { DEVICES, enrolAll, open, sendBeats, type Fleet } from "./devices.ts";
import { cpuOf, onDatabases, prepare } from "./hubs.ts";
import { steady, type Steady } from "./steady.ts";
import { table } from "./table.ts";

/** Requests for the device list that the backend sends per second. */
const PACE = 80;
/** Minutes of the shortest rule. With a heartbeat each 20 s, a device may miss three heartbeats in this time. */
const RULE_MINUTES = 1;
const RULE_MS = RULE_MINUTES * 60_000;
const BEAT_SECONDS = 20;
/** Seconds within which a message must arrive after the rule's time has passed. */
const WANTED_SECONDS = 30;
const QUIET_SECONDS = 40;
/** Number of turns with `--turns`, and seconds of the quiet time before each turn and after the last one. */
const [TURNS, TURN_SECONDS] = [3, 25];
/** Seconds between the start of the backend and the time at which the first device is due for an alert. */
const LEAD_SECONDS = 4;
/**
 * Seconds of the phase with returning devices: 30 s for their first heartbeats, 60 s until alerts end, 20 s for
 * messages.
 */
const RETURN_SECONDS = 110;
/** Milliseconds to wait for late messages after a phase. */
const PATIENCE_MS = 60_000;
/** Milliseconds that the hub runs before devices go offline. A hub opens no alerts in its first minute. */
const WATCH_MS = RULE_MS + 10_000;

interface Arrived extends AlertMessage {
  readonly arrivedAt: number;
}

/** Web server that receives the alert messages. */
class Receiver {
  /** Messages by their ids, since the hub may send a message twice. */
  readonly #got = new Map<string, Arrived>();
  readonly #server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const id = String(request.headers["webhook-id"]);
      if (!this.#got.has(id)) this.#got.set(id, { ...(JSON.parse(body) as AlertMessage), arrivedAt: Date.now() });
      response.writeHead(204).end();
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  of(rule: AlertRule, type: AlertMessage["type"]): Arrived[] {
    return [...this.#got.values()].filter((message) => message.type === type && message.data.rule?.id === rule.id);
  }

  /** Waits until the messages cover all devices, at most PATIENCE_MS. */
  async wait(rule: AlertRule, type: AlertMessage["type"]): Promise<void> {
    const until = Date.now() + PATIENCE_MS;
    const count = (): number => this.of(rule, type).reduce((sum, { data }) => sum + data.count, 0);
    while (count() < DEVICES && Date.now() < until) await sleep(50);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface Phase extends Steady {
  /** Share of one core that the hub used. */
  readonly cpu: number;
}

interface Told {
  /** Number of devices in each message. */
  readonly counts: readonly number[];
  /** Largest number of seconds from the time at which a device was due for a message to the arrival of its message. */
  readonly slowest: number;
}

const rows = [
  ["database", "beside", "p50 ms", "p99 ms", "slowest", "to quiet", "hub CPU, cores", "devices by message", "last s"],
];
let wrong = 0;

/** Measurements with one database. */
class Site {
  readonly #database: string;
  readonly #hub: HubProcess;
  readonly #key: string;
  readonly #db: Database;
  readonly #fleet: Fleet;
  readonly #receiver: Receiver;

  constructor(database: string, hub: HubProcess, key: string, db: Database, fleet: Fleet, receiver: Receiver) {
    this.#database = database;
    this.#hub = hub;
    this.#key = key;
    this.#db = db;
    this.#fleet = fleet;
    this.#receiver = receiver;
  }

  async ask(seconds: number): Promise<Phase> {
    const [before, since] = [await cpuOf(this.#hub.port), performance.now()];
    const asked = await steady(this.#hub.port, this.#key, PACE, seconds);
    wrong += asked.wrong;
    return { ...asked, cpu: (((await cpuOf(this.#hub.port)) - before) * 1000) / (performance.now() - since) };
  }

  /** Measures a quiet time, then the time after all devices go offline. */
  async turn(turn: number): Promise<void> {
    const quiet = await this.quiet(TURN_SECONDS);
    const rule = await this.makeRule();
    await this.fallSilent(`offline at once, turn ${turn}`, rule, quiet, 0);
    await this.dropRule(rule);
    // Set all devices online again. Otherwise, the next rule would open alerts for them at once.
    await this.setContact(Date.now(), 0);
  }

  async quiet(seconds = QUIET_SECONDS): Promise<Phase> {
    const phase = await this.ask(seconds);
    this.#add("nothing", phase);
    return phase;
  }

  #add(name: string, phase: Phase, quiet?: Phase, told?: Told): void {
    const ms = [phase.p50, phase.p99, phase.slowest].map((value) => value.toFixed(1));
    const ratio = quiet === undefined ? "" : `${(phase.p99 / quiet.p99).toFixed(2)}x`;
    const messages = told === undefined ? ["", ""] : [told.counts.join(" + "), told.slowest.toFixed(1)];
    rows.push([this.#database, name, ...ms, ratio, phase.cpu.toFixed(2), ...messages]);
  }

  makeRule(): Promise<AlertRule> {
    const { teamId, groupId } = this.#fleet;
    const change = { now: Date.now(), actor: "load", teamId };
    return createRule(this.#db, change, { kind: "device_offline", threshold: RULE_MINUTES, groupId });
  }

  /** Ends a rule and its alerts without messages. */
  async dropRule({ id }: AlertRule): Promise<void> {
    await deleteRule(this.#db, { now: Date.now(), actor: "load", teamId: this.#fleet.teamId }, id);
  }

  /**
   * Writes heartbeat times to the database: `first` for the first device, the others spread evenly over
   * `spreadSeconds`.
   */
  async setContact(first: number, spreadSeconds: number): Promise<void> {
    const number =
      "SELECT CAST(substr(d.name, 8) AS BIGINT) FROM devices d WHERE d.team_id = device_states.team_id AND d.id = device_states.device_id";
    const contact = `CAST(? AS BIGINT) + (${number}) * ${spreadSeconds * 1000} / ${DEVICES}`;
    await this.#db.write((tx) =>
      tx.all(
        `UPDATE device_states SET last_contact_at = ${contact}, online_since = enrolled_at, beat_seconds = ${BEAT_SECONDS} WHERE team_id = ? RETURNING 1 AS done`,
        [first, this.#fleet.teamId],
      ),
    );
  }

  /** Lets all devices go offline, and measures. */
  async fallSilent(name: string, rule: AlertRule, quiet: Phase, spreadSeconds: number): Promise<void> {
    await this.setContact(Date.now() - RULE_MS + LEAD_SECONDS * 1000, spreadSeconds);
    const phase = await this.ask(LEAD_SECONDS + spreadSeconds + WANTED_SECONDS);
    await this.#receiver.wait(rule, "alert.began");
    const told = await this.#check(rule, "alert.began", "told_at", `s.last_contact_at + ${RULE_MS}`);
    this.#add(name, phase, quiet, told);
  }

  /** Lets all devices come back, and measures. */
  async comeBack(name: string, rule: AlertRule, quiet: Phase): Promise<void> {
    let isOver = false;
    const beating = sendBeats(this.#hub.port, this.#fleet.credentials, () => isOver);
    const phase = await this.ask(RETURN_SECONDS);
    await this.#receiver.wait(rule, "alert.ended");
    isOver = true;
    const beats = await beating;
    wrong += beats.wrong;
    if (beats.wrong > 0) this.#fail(`${JSON.stringify(Object.fromEntries(beats.reasons))} for heartbeats`);
    const told = await this.#check(rule, "alert.ended", "end_told_at", "a.calm_since + a.hold_ms");
    this.#add(name, phase, quiet, told);
  }

  /**
   * Compares the messages with the alerts in the database, since a message names only its first 50 devices. The column
   * `note` of an alert holds the timestamp of its message.
   */
  async #check(rule: AlertRule, type: AlertMessage["type"], note: string, due: string): Promise<Told> {
    const alerts = await this.#db.all<{ subject: string; at: number; due: number }>(
      `SELECT a.subject AS subject, a.${note} AS at, ${due} AS due FROM alerts a JOIN device_states s ON s.team_id = a.team_id AND s.device_id = a.subject WHERE a.rule_id = ? AND a.${note} IS NOT NULL`,
      [rule.id],
    );
    const heard = new Set<string>();
    const messages = this.#receiver.of(rule, type);
    let slowest = 0;
    for (const { data, timestamp, arrivedAt } of messages) {
      const its = alerts.filter(({ at }) => at === Date.parse(timestamp));
      const twice = its.filter(({ subject }) => heard.has(subject)).length;
      const grouped = data.groups.find(({ id }) => id === this.#fleet.groupId)?.count;
      if (data.count !== its.length || grouped !== its.length || twice > 0)
        this.#fail(
          `${type} counts ${data.count} devices, ${grouped} in the group; ${its.length} alerts, ${twice} again`,
        );
      for (const alert of its) {
        heard.add(alert.subject);
        slowest = Math.max(slowest, (arrivedAt - alert.due) / 1000);
      }
    }
    if (heard.size !== DEVICES) this.#fail(`${type} for ${heard.size} devices, expected ${DEVICES}`);
    return { counts: messages.map(({ data }) => data.count), slowest };
  }

  #fail(what: string): void {
    wrong++;
    console.log(`FAILED: ${this.#database}: got ${what}`);
  }
}

await onDatabases(async (database, env) => {
  const receiver = new Receiver();
  const webhook = await receiver.start();
  const [key] = await prepare(env);
  const db = await open(env);
  const fleet = await enrolAll(db);
  const change = { now: Date.now(), actor: "load", teamId: fleet.teamId };
  await createChannel(db, { webhookAddresses: "any", smtpUrl: undefined }, change, { name: "Night", webhook });
  const settings = { HUB_WEBHOOK_ADDRESSES: "any", HUB_HEARTBEAT_SECONDS: String(BEAT_SECONDS) };
  // Raise the limit of connections per address, by default 256: the devices and the backend share one address here.
  const hub = await HubProcess.start({ ...env, ...settings, HUB_ADDRESS_CONNECTIONS: "20000" });
  const started = Date.now();
  const site = new Site(database, hub, key, db, fleet, receiver);
  if (process.argv.includes("--turns")) {
    await sleep(WATCH_MS);
    for (let turn = 1; turn <= TURNS; turn++) await site.turn(turn);
    await site.quiet(TURN_SECONDS);
  } else await wholeNight(site, started);
  await hub.stop();
  await db.close();
  receiver.stop();
});

async function wholeNight(site: Site, started: number): Promise<void> {
  const first = await site.makeRule();
  const before = await site.quiet();
  await sleep(Math.max(0, started + WATCH_MS - Date.now()));
  await site.fallSilent(`offline within ${BEAT_SECONDS} s`, first, before, BEAT_SECONDS);
  await site.dropRule(first);
  const between = await site.quiet();
  // Set all devices online again. Otherwise, the second rule would open alerts for them at once.
  await site.setContact(Date.now(), 0);
  const second = await site.makeRule();
  await site.fallSilent("offline at once", second, between, 0);
  await site.comeBack("coming back, heartbeats", second, between);
}

table(rows);
console.log(
  `expected: p99 at most 1.5x of quiet, messages in ${WANTED_SECONDS} s ("last s": from the rule's time, or from the ` +
    `end of the hold, to the arrival, slowest device); ${wrong} wrong answers`,
);
if (wrong > 0) process.exitCode = 1;
