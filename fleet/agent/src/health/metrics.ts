/** Counters of the agent in the Prometheus text format. Most values are read from the parts at each request. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Camera } from "../camera.ts";
import type { Processed } from "../network/network.ts";
import type { NetworkChooser } from "../network/live-config.ts";
import type { Previews } from "../previews.ts";
import type { HubLink } from "../hub/link.ts";
import type { Delivery } from "../sinks/delivery.ts";
import type { Spool } from "../spool/spool.ts";

/** Parts of the agent whose counts are exported. */
export interface Parts {
  readonly cameras: readonly Camera[];
  readonly deliveries: readonly Delivery[];
  readonly spool: Spool;
  readonly config: NetworkChooser;
  readonly previews: Previews | null;
  readonly hub: HubLink | null;
}

type Reading = readonly [labels: Readonly<Record<string, string>>, value: number];

const PREFIX = "boxwright_agent_";
/** Number of recent frames whose decoding times a heartbeat summarises. */
const LAST_FRAMES = 1000;
/** Bounds of the histogram in seconds, for small networks on fast machines up to large ones on slow machines. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export class Metrics {
  readonly registry = new Registry();
  readonly #steps: Histogram<"step">;
  readonly #packets: Counter<"camera" | "kind">;
  /** Decoding times of recent frames in milliseconds, in a ring buffer. */
  readonly #decodes: number[] = [];
  #decoded = 0;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#steps = new Histogram({
      name: `${PREFIX}step_seconds`,
      help: "Time of the steps of a frame: prepare, run, pack",
      labelNames: ["step"],
      buckets: BUCKETS,
      registers,
    });
    this.#packets = new Counter({
      name: `${PREFIX}packets_total`,
      help: "Packets made",
      labelNames: ["camera", "kind"],
      registers,
    });
  }

  /** Counts a frame that went through the network. */
  readonly count = (camera: string, { kind, times }: Processed): void => {
    this.#packets.inc({ camera, kind });
    if (kind === "detection") this.#decodes[this.#decoded++ % LAST_FRAMES] = times.pack;
    for (const step of ["prepare", "run", "pack"] as const) this.#steps.observe({ step }, times[step] / 1000);
  };

  /** Median and 99th percentile of recent decoding times in milliseconds; null if this device does not decode. */
  get decodeTimes(): { readonly p50: number | null; readonly p99: number | null } {
    const sorted = this.#decodes.toSorted((a, b) => a - b);
    const at = (share: number): number | null => sorted[Math.floor(share * (sorted.length - 1))] ?? null;
    return { p50: at(0.5), p99: at(0.99) };
  }

  /** Adds the counters and gauges that read their values from the parts. */
  add({ cameras, deliveries, spool, config, previews, hub }: Parts): void {
    if (hub)
      this.#level("hub_up", "1 while the hub answers, 0 while it is away or has revoked the device", [], () => [
        [{}, hub.problem === null ? 1 : 0],
      ]);
    this.#total("frames_total", "Frames of each camera, by what became of them", ["camera", "outcome"], () =>
      cameras.flatMap(({ source, stats }) => [
        [{ camera: source.camera, outcome: "spooled" }, stats.spooled],
        [{ camera: source.camera, outcome: "failed" }, stats.failed],
        [{ camera: source.camera, outcome: "lost" }, stats.lost],
        [{ camera: source.camera, outcome: "dropped" }, source.stats.dropped],
        [{ camera: source.camera, outcome: "unreadable" }, source.stats.unreadable],
      ]),
    );
    this.#total("source_restarts_total", "Starts of ffmpeg after the first", ["camera"], () =>
      cameras.map(({ source }) => [{ camera: source.camera }, source.stats.restarts]),
    );
    this.#level("source_up", "1 while a source gives frames, 0 while it has a problem", ["camera"], () =>
      cameras.map(({ source }) => [{ camera: source.camera }, source.problem === null ? 1 : 0]),
    );
    this.#total("sink_packets_total", "Packets sent, by what became of them", ["sink", "outcome"], () =>
      deliveries.flatMap(({ sink, stats }) =>
        Object.entries(stats).map(([outcome, n]): Reading => [{ sink: sink.name, outcome }, n as number]),
      ),
    );
    this.#total("spool_dropped_total", "Packets that the spool dropped", ["reason"], () =>
      Object.entries(spool.stats.dropped).map(([reason, n]): Reading => [{ reason }, n]),
    );
    this.#total("spool_damaged_total", "Records whose bytes were not those that were written", [], () => [
      [{}, spool.stats.damaged],
    ]);
    this.#total("config_changes_total", "Changes of the config file", ["result"], () => [
      [{ result: "applied" }, config.state.applied],
      [{ result: "failed" }, config.state.failed],
    ]);
    this.#total("previews_total", "Pictures for the live page", ["outcome"], () => [
      [{ outcome: "sent" }, previews?.stats.sent ?? 0],
      [{ outcome: "failed" }, previews?.stats.failed ?? 0],
    ]);
    this.#level("spool_bytes", "Bytes of the spool on disk", [], () => [[{}, spool.bytes]]);
    this.#level("spool_packets", "Packets that at least one sink has not acknowledged", [], () => [
      [{}, spool.waiting],
    ]);
  }

  #total(name: string, help: string, labelNames: string[], read: () => readonly Reading[]): void {
    new Counter({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });
  }

  #level(name: string, help: string, labelNames: string[], read: () => readonly Reading[]): void {
    new Gauge({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
  }
}
