/** Opens the parts that the settings name (sources, network, spool, sinks), and closes them in order. */
import { setMaxListeners } from "node:events";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { makeFolder } from "./core/files.ts";
import { Camera, type Device } from "./camera.ts";
import { messageOf } from "boxwright-service/errors";
import { ownId } from "./core/ids.ts";
import { SettingsError } from "./core/errors.ts";
import { SEQUENCES_PER_START, reserveSequences } from "./core/starts.ts";
import { Parent } from "./launcher/parent.ts";
import type { Told } from "./launcher/trial.ts";
import { HealthReport } from "./health/health.ts";
import { Metrics, type Parts } from "./health/metrics.ts";
import { type HealthServer, openHealthServer } from "./health/server.ts";
import { configFiles } from "./network/config-files.ts";
import { LiveConfig, type NetworkChooser } from "./network/live-config.ts";
import { Network } from "./network/network.ts";
import { Previews } from "./previews.ts";
import { RecentLog } from "./core/recent-log.ts";
import type { Settings } from "./settings/schema.ts";
import { Traces, logTo } from "boxwright-service/traces";
import { deviceSource } from "boxwright-service/schema/protocol";
import { Application } from "./hub/application.ts";
import { HubClient } from "./hub/client.ts";
import { identify } from "./hub/enrol.ts";
import { IdentityFile } from "./hub/identity.ts";
import { BEATS_PER_START, HubLink, type Status } from "./hub/link.ts";
import { Logs } from "./hub/logs.ts";
import { Pause } from "./hub/pause.ts";
import { Shadow } from "./hub/shadow.ts";
import { Updates } from "./hub/updates.ts";
import { Snaps } from "./hub/snaps.ts";
import { ConfigStore } from "./sinks/configs.ts";
import { Delivery } from "./sinks/delivery.ts";
import { openSink } from "./sinks/open.ts";
import { traced } from "./sinks/traced.ts";
import { RefusedFolder } from "./sinks/refused.ts";
import { type OpenSource, openSource } from "./sources/open.ts";
import { lockFolder } from "./spool/lock.ts";
import { type DropReason, Spool } from "./spool/spool.ts";

/** Log lines about packets that the spool dropped, by reason. */
const DROPS: Readonly<Record<DropReason, string>> = {
  cap: "the spool is full: dropped its oldest packets (policy drop-oldest). Raise spool.maxBytes or check the receiver",
  disk: "the disk is full or broken: dropped packets (policy drop-oldest). Free space in the state folder",
  "too large": "dropped a packet above spool.maxBytes. Raise spool.maxBytes, or send detections in place of tensors",
};

/** Counts of a run, including packets that an earlier run left in the spool. */
export interface RunResult {
  /** Number of packets that every sink has delivered. */
  readonly sent: number;
  /**
   * Number of delivered packets that a receiver already had from an earlier run. With several sinks, the number of the
   * sink with the most.
   */
  readonly duplicates: number;
  /** Number of packets that stay in the spool for the next start. */
  readonly waiting: number;
  /** Number of frames that failed and of photos that cannot be read. */
  readonly failed: number;
  /** Number of lost packets: a receiver refused them permanently, or the spool dropped them. */
  readonly lost: number;
}

function openTraces({ traces }: Settings, log: Logger): Traces | null {
  if (traces === null || traces.share === 0) return null;
  return new Traces({ ...traces, service: "boxwright-agent", onProblem: logTo(log) });
}

export class Agent {
  readonly report: HealthReport;
  readonly metrics = new Metrics();
  /** Port of the health server; null if there is none. */
  port: number | null = null;
  readonly #parts: Parts & { readonly spool: Spool };
  readonly #sources: readonly OpenSource[];
  /** Number of packets that an earlier run left in the spool. */
  readonly #left: number;
  readonly #network: Network;
  readonly #log: Logger;
  readonly #unlock: () => void;
  /** Aborts sources, cameras and deliveries. */
  readonly #end = new AbortController();
  readonly #traces: Traces | null;
  #tasks: Promise<unknown> = Promise.resolve();
  #server: HealthServer | null = null;

  private constructor(settings: Settings, { network, config, hub }: Opened, log: Logger, unlock: () => void) {
    const { state } = settings;
    const name = hub ? deviceSource(hub.client.identity.deviceId) : settings.device;
    const firstSequence = reserveSequences(state);
    const link =
      hub &&
      new HubLink({
        ...hub,
        firstBeat: (firstSequence / SEQUENCES_PER_START) * BEATS_PER_START,
        status: () => this.#status(settings),
        ...{ state, log },
      });
    this.#network = network;
    this.#log = log;
    this.#unlock = unlock;
    const configs = new ConfigStore(state);
    this.#traces = openTraces(settings, log);
    const traces = this.#traces;
    const opened = settings.sinks.map((sink) => openSink(sink, (hash) => configs.find(hash), ownId(state), link));
    const sinks = traces === null ? opened : opened.map((sink) => traced(sink, traces));
    const names = sinks.map(({ name }) => name);
    const spool = new Spool(join(state, "spool"), names, settings.spool);
    spool.onDrop = (reason, count) => log.warn({ reason, count, ...spool.stats.dropped }, DROPS[reason]);
    spool.onDisk = (problem) => {
      if (problem === null) log.info("the disk takes packets again");
      else log.error({ state }, `the spool cannot be written: ${problem}. Free space in the state folder`);
    };
    this.#left = spool.waiting;
    const refused = new RefusedFolder(state, settings.spool.refusedBytes);
    const previews = settings.preview && new Previews(settings.preview, name, sinks, log);
    const device: Device = {
      ...{ name, network, config, configs, spool, previews, log, firstSequence, snaps: hub?.snaps ?? null },
      ...{ pause: hub?.pause ?? null, traces },
      onProcessed: this.metrics.count,
    };
    this.#sources = settings.sources.map((source) => openSource(source, state, log));
    const cameras = this.#sources.map((source) => new Camera(source, device));
    const deliveries = sinks.map((sink) => new Delivery(sink, spool.reader(sink.name), refused, log));
    this.#parts = { cameras, deliveries, spool, config, previews, hub: link };
    this.metrics.add(this.#parts);
    // Remove the limit of listeners: each camera, sink and request listens to this signal, and Node reports more than
    // ten listeners as a leak.
    setMaxListeners(0, this.#end.signal);
    this.report = new HealthReport(name, this.#parts, () => network.plan);
  }

  /**
   * Starts an agent.
   * @param recent collects the last lines of `log`, for the hub
   * @throws the error of an invalid model or config; LockError if another agent uses the state folder
   */
  static async start(settings: Settings, log: Logger, recent = new RecentLog()): Promise<Agent> {
    try {
      makeFolder(settings.state);
      accessSync(settings.state, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      const message = `got ${settings.state}, which cannot be written (${messageOf(error)}), expected a folder of the agent`;
      throw new SettingsError([{ path: "state", message }]);
    }
    const unlock = lockFolder(settings.state);
    try {
      const agent = new Agent(settings, await open(settings, log, recent), log, unlock);
      await agent.#listen(settings);
      return agent;
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /**
   * Runs until `close`, or until recorded sources have ended and each packet is acknowledged. Rejects only on an
   * unexpected error of a part: failures of frames, receivers and disks are counted and retried.
   */
  async run(): Promise<RunResult> {
    const { cameras, deliveries, spool, hub } = this.#parts;
    if (hub) Parent.find()?.tell(() => this.#told(hub), this.#end.signal);
    const linked = hub?.run(this.#end.signal);
    const delivering = Promise.all(deliveries.map((delivery) => delivery.run(this.#end.signal)));
    const taking = Promise.all(cameras.map((camera) => this.#runCamera(camera)));
    this.#tasks = Promise.allSettled([taking, delivering, linked]);
    await Promise.race([taking, delivering]);
    await Promise.race([spool.drained(this.#end.signal), delivering]);
    const result = this.result();
    const isComplete = !this.#end.signal.aborted && result.failed === 0 && result.lost === 0;
    if (isComplete) for (const source of this.#sources) source.finish?.();
    return result;
  }

  /** Ends the agent. Packets that are being sent have 2 s to be acknowledged. Other packets stay in the spool. */
  async close(): Promise<void> {
    this.#end.abort();
    const { deliveries, spool, config } = this.#parts;
    config.close();
    await this.#tasks;
    await Promise.all(this.#sources.map((source) => source.close()));
    await Promise.all(deliveries.map(({ sink }) => sink.close().catch(() => undefined)));
    await this.#traces?.close();
    await this.#server?.close();
    await this.#network.close();
    spool.close();
    this.#unlock();
  }

  async #runCamera(camera: Camera): Promise<void> {
    const { camera: name } = camera.source;
    try {
      await camera.run(this.#end.signal);
      // Count a remaining problem as a failure: a video may end early, if ffmpeg cannot read the rest of the file.
      if (camera.source.problem !== null && !this.#end.signal.aborted) camera.stats.failed++;
      this.#log.info({ camera: name, ...camera.stats }, "source ended");
    } catch (error) {
      camera.stats.failed++;
      camera.problem = messageOf(error);
      this.#log.error({ camera: name }, `source failed: ${camera.problem}`);
    }
  }

  result(): RunResult {
    const { cameras, deliveries, spool } = this.#parts;
    const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
    const lost = sum([...Object.values(spool.stats.dropped), ...deliveries.map(({ stats }) => stats.refused)]);
    // Include the frames that the spool dropped at once: `lost` contains them too, and is subtracted below.
    const offered = this.#left + sum(cameras.map(({ stats }) => stats.spooled + stats.lost));
    return {
      sent: Math.max(0, offered - spool.waiting - lost),
      duplicates: Math.max(0, ...deliveries.map(({ stats }) => stats.duplicate)),
      waiting: spool.waiting,
      failed: sum(cameras.map(({ stats, source }) => stats.failed + source.stats.unreadable)),
      lost,
    };
  }

  /** Returns the status that each heartbeat carries. */
  #status({ sinks, spool: limits }: Settings): Status {
    const { cameras, spool, hub } = this.#parts;
    const { failed, lost } = this.result();
    const count = (of: (camera: Camera) => number): number => cameras.reduce((sum, camera) => sum + of(camera), 0);
    const host = sinks.find((sink) => sink.kind === "http");
    const problem = this.report.read().problems[0];
    return {
      frames: count(({ stats }) => stats.frames),
      dropped: count(({ source }) => source.stats.dropped),
      lost: failed + lost,
      decode_ms: this.metrics.decodeTimes,
      spool: { bytes: spool.bytes, limit: limits.maxBytes, frames: spool.waiting },
      last_error: problem?.slice(0, 1000) ?? null,
      // Address of the host's page about this device.
      ...(host && hub && { host_url: `${host.url}/?source=${encodeURIComponent(hub.source)}` }),
    };
  }

  /** Returns the facts from which the launcher decides whether this version is healthy. */
  #told(hub: HubLink): Told {
    const frames = this.#parts.cameras.reduce((sum, { stats }) => sum + stats.frames, 0);
    return { ...hub.contact, frames, isPaused: hub.isPaused };
  }

  async #listen({ health }: Settings): Promise<void> {
    if (!health) return;
    this.#server = await openHealthServer(health, this.report, this.metrics);
    this.port = this.#server.port;
    this.#log.info({ host: health.host, port: this.port }, "health server listens");
  }
}

/** Parts that are opened before the agent is constructed. */
interface Opened {
  readonly network: Network;
  readonly config: NetworkChooser;
  readonly hub: {
    readonly client: HubClient;
    readonly application: Application;
    readonly snaps: Snaps;
    readonly logs: Logs;
    readonly pause: Pause;
    readonly updates: Updates;
    readonly shadow: Shadow;
  } | null;
}

/**
 * Opens the parts. Enrols the device if the settings name a hub and the device is not enrolled yet.
 * @throws the error of settings, model or config
 */
async function open({ state, hub, update, network: given }: Settings, log: Logger, recent: RecentLog): Promise<Opened> {
  const network = new Network(given, (note) => log.warn(`network: ${note}`));
  const { model } = given;
  const files = model === null ? null : new LiveConfig(configFiles({ ...given, model }, network), state, log);
  if (!hub) {
    // Without a hub the settings always name a model.
    await files!.start();
    files!.watch();
    return { network, config: files!, hub: null };
  }
  const client = new HubClient(new IdentityFile(state), await identify(state, hub, log));
  const application = new Application({ state, network, files, log });
  await application.start();
  const snaps = new Snaps({
    ...{ state, network, log, maxBytes: hub.snapBytes },
    rules: () => application.current?.snaps ?? [],
    application: () => application.current?.application.identifier ?? null,
  });
  const logs = new Logs(recent, log);
  if (recent.recall(state)) logs.send("failed");
  const onFailed = (version: string): void => logs.failed(version);
  const updates = new Updates({ state, keys: update.keys, launcher: Parent.find(), log, onFailed });
  const pause = new Pause(state, log);
  const shadow = new Shadow({
    ...{ state, application, log, settings: given },
    onDisagreement: (...of) => snaps.disagree(...of),
  });
  network.onSeen = shadow.see;
  return { network, config: application, hub: { client, application, snaps, logs, pause, updates, shadow } };
}
