/**
 * Opens and ends the alerts of all teams, and sends messages about them. If several processes share a database, only
 * one of them does this work.
 */
import { randomUUID } from "node:crypto";
import type { DeliveryLimits } from "boxwright-service/delivery";
import { messageOf } from "boxwright-service/errors";
import { releaseLease, takeLease } from "boxwright-service/lease";
import type { Services } from "../http/services.ts";
import { allRules } from "../nouns/alert-rule.ts";
import { Deliveries } from "./deliver.ts";
import { Teller } from "./tell.ts";
import { deleteOldAlerts, watchRule } from "./watch.ts";

export interface AlertLimits {
  /** Milliseconds between two checks of the rules. */
  readonly watchMs: number;
  /** Milliseconds between two checks of queued messages. */
  readonly deliverMs: number;
}

const LIMITS: AlertLimits = { watchMs: 5000, deliverMs: 1000 };
const LEASE = "alerts";
/** Milliseconds for which ended alerts are kept. */
const KEPT_MS = 90 * 86_400_000;

type Needs = Pick<Services, "db" | "log" | "now" | "config" | "metrics" | "baseUrl"> & {
  /** Returns a monotonic time in milliseconds. Default: `performance.now()`. */
  readonly elapsed?: () => number;
};

export class Alerts {
  readonly #needs: Needs;
  readonly #limits: AlertLimits;
  readonly #deliveries: Deliveries;
  readonly #teller = new Teller();
  readonly #owner = randomUUID();
  /**
   * Value of `elapsed()` at the first check. Undefined after a check that found another process with the lease.
   */
  #since: number | undefined;
  #timers: NodeJS.Timeout[] = [];
  #work: Promise<void> = Promise.resolve();
  #toldReason = "";

  constructor(needs: Needs, limits: Partial<AlertLimits> = {}, delivery: Partial<DeliveryLimits> = {}) {
    this.#needs = needs;
    this.#limits = { ...LIMITS, ...limits };
    this.#deliveries = new Deliveries(needs, delivery);
  }

  start(): void {
    const every = (milliseconds: number, work: () => Promise<void>): NodeJS.Timeout => {
      let isBusy = false;
      const turn = async (): Promise<void> => {
        if (isBusy) return;
        isBusy = true;
        await this.#run(work).finally(() => (isBusy = false));
      };
      return setInterval(() => void turn(), milliseconds).unref();
    };
    const { watchMs, deliverMs } = this.#limits;
    this.#timers = [every(watchMs, () => this.watch()), every(deliverMs, () => this.#deliveries.look())];
  }

  /** Checks all rules once, unless another process watches the rules. */
  async watch(): Promise<void> {
    const { config, db, now, metrics, baseUrl } = this.#needs;
    const time = now();
    const lease = { now: time, milliseconds: Math.max(6 * this.#limits.watchMs, 1000) };
    const rules = await allRules(db);
    const { elapsed = () => performance.now() } = this.#needs;
    // Count from the first check, also without rules: the hub hears devices before a person makes the first rule.
    this.#since ??= elapsed();
    // Return before the lease, so that a hub without rules writes nothing.
    if (rules.length === 0) return;
    if (!(await takeLease(db, LEASE, this.#owner, lease))) return void (this.#since = undefined);
    const open = new Map<string, number>();
    for (const rule of rules) {
      await watchRule(db, rule, now(), elapsed() - this.#since, config.heartbeatSeconds);
      await this.#teller.tell({ db, baseUrl }, rule, now());
      const [row] = await db.all<{ count: number }>(
        "SELECT count(*) AS count FROM alerts WHERE rule_id = ? AND ended_at IS NULL",
        [rule.id],
      );
      open.set(rule.kind, (open.get(rule.kind) ?? 0) + (row?.count ?? 0));
    }
    metrics.openAlerts.reset();
    for (const [kind, count] of open) metrics.openAlerts.set({ kind }, count);
    await deleteOldAlerts(db, time - KEPT_MS);
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#work;
    await this.#deliveries.stop();
    if (this.#since !== undefined) await releaseLease(this.#needs.db, LEASE, this.#owner).catch(() => undefined);
  }

  /** Runs `work` after all earlier work. Logs an error; the next timer tries the work again. */
  #run(work: () => Promise<void>): Promise<void> {
    const { log } = this.#needs;
    this.#work = this.#work.then(work).then(
      () => void (this.#toldReason = ""),
      (error: unknown) => {
        // Log each reason once, since this runs every second.
        if (messageOf(error) !== this.#toldReason) log.error({ err: error }, "work on alerts failed, trying again");
        this.#toldReason = messageOf(error);
      },
    );
    return this.#work;
  }
}
