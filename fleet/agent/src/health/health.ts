/** The agent's state for /healthz. An unreachable receiver is no problem while the spool accepts packets. */
import type { NetworkPlan } from "../network/plan.ts";
import type { Parts } from "./metrics.ts";

/** Milliseconds for which a loss counts as a problem. */
const RECENT = 60_000;

export interface Health {
  readonly status: "ok" | "failing";
  /** Present problems, one sentence each. */
  readonly problems: readonly string[];
  readonly [part: string]: unknown;
}

/**
 * Builds health reports. Remembers when the number of losses last grew, since a loss counts as a problem only for a
 * while.
 */
export class HealthReport {
  readonly #parts: Parts;
  readonly #plan: () => NetworkPlan | null;
  readonly #device: string;
  #lost = 0;
  #lostAt = -Infinity;

  constructor(device: string, parts: Parts, plan: () => NetworkPlan | null) {
    this.#device = device;
    this.#parts = parts;
    this.#plan = plan;
  }

  read(): Health {
    const { cameras, deliveries, spool, config, hub } = this.#parts;
    const problems = this.#problems();
    const plan = this.#plan();
    return {
      status: problems.length === 0 ? "ok" : "failing",
      problems,
      device: this.#device,
      config: { ...config.state, hash: plan?.record?.hash ?? null, decodes: plan?.decodes ?? null },
      hub: hub && { problem: hub.problem, isRevoked: hub.isRevoked, isPaused: hub.isPaused },
      cameras: cameras.map(({ source, stats, problem }) => ({
        camera: source.camera,
        ...stats,
        ...source.stats,
        problem: problem ?? source.problem,
      })),
      spool: { bytes: spool.bytes, packets: spool.waiting, ...spool.stats, disk: spool.diskProblem },
      sinks: deliveries.map(({ sink, stats, waitsFor, lastRefusal }) => ({
        sink: sink.name,
        ...stats,
        waitsFor,
        lastRefusal,
      })),
    };
  }

  #problems(): string[] {
    const { cameras, deliveries, spool, config, hub } = this.#parts;
    const problems: string[] = [];
    // Do not report an unreachable hub, since the agent works without the hub.
    if (hub?.isRevoked) problems.push(`hub: ${hub.problem}`);
    if (this.#plan() === null) problems.push("network: frames wait until the hub gives this device an application");
    for (const { sink, waitsFor, needsOperator } of deliveries)
      if (needsOperator) problems.push(`sink ${sink.name}: ${waitsFor}`);
    if (config.state.error !== null) problems.push(`config: ${config.state.error}`);
    for (const { source, problem } of cameras) {
      const text = problem ?? source.problem;
      if (text !== null) problems.push(`camera ${source.camera}: ${text}`);
    }
    spool.look();
    if (spool.diskProblem !== null) problems.push(`spool: ${spool.diskProblem}`);
    if (spool.isBlocked && spool.diskProblem === null) problems.push("spool: full, frames wait");
    const lost = Object.values(spool.stats.dropped).reduce((sum, count) => sum + count, 0);
    if (lost > this.#lost) this.#lostAt = performance.now();
    this.#lost = lost;
    if (performance.now() - this.#lostAt < RECENT) problems.push(`spool: ${lost} packets dropped so far`);
    return problems;
  }
}
