/** Starts the parts of the host, and stops them in order. */
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "./core/config.ts";
import { UnavailableError, UserError, connectionProblem, messageOf } from "boxwright-service/errors";
import { Refusal } from "./core/errors.ts";
import type { Logger } from "boxwright-service/log";
import { type Metrics, addGauge, createMetrics } from "./core/metrics.ts";
import { DeviceTokens } from "./access/device-tokens.ts";
import { HubDocuments } from "./access/hub-document.ts";
import { Decoding } from "./decode/decoding.ts";
import { Registry } from "./decode/registry.ts";
import { Announcer } from "./announce/announcer.ts";
import { createApp } from "./http/app.ts";
import { createGuards } from "./http/guards.ts";
import { Intake } from "./intake/intake.ts";
import { Live } from "./live/live.ts";
import { Previews } from "./live/previews.ts";
import { MqttSource } from "./mqtt/source.ts";
import { Broker } from "./nats/broker.ts";
import type { Database } from "boxwright-service/database";
import { type Listening, listen } from "boxwright-service/http/listen";
import { openWhenThere } from "boxwright-service/open-when-there";
import { Traces, logTo } from "boxwright-service/traces";
import { Senders } from "./webhook/senders.ts";
import { Settler } from "./store/count-seen.ts";
import { DeviceNames } from "./store/names.ts";
import { openDatabase } from "./store/open.ts";
import { Retention } from "./store/retention.ts";
import { RefusedRequests } from "./store/refused-requests.ts";
import { Writer } from "./store/writer.ts";

export interface Host {
  readonly port: number;
  readonly db: Database;
  readonly metrics: Metrics;
  /** Refuses new packets, finishes those that have arrived, and closes. */
  stop(): Promise<void>;
}

export interface HostOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly now?: () => number;
  /** True: waits for a database that is unavailable, or whose disk is full. */
  readonly waits?: boolean;
}

const BROKER_RETRY_MS = 1000;
/** Largest number of simultaneous connections. `LimitNOFILE` of the systemd unit allows more. */
export const MOST_CONNECTIONS = 2048;
/**
 * Largest number of bytes of headers. A preview has the longest headers: three names of 512 bytes, each byte escaped to
 * three.
 */
const MOST_HEADER_BYTES = 12 * 1024;
/** Milliseconds for which a stopping host waits for open requests. It then cuts the event streams of live pages. */
const DRAIN_MS = 10_000;

export async function startHost({ config, log, now = Date.now, waits = false }: HostOptions): Promise<Host> {
  const metrics = createMetrics();
  const onError = (error: unknown): void => log.warn({ error: messageOf(error) }, "database");
  const whenThere = <T>(work: () => Promise<T>): Promise<T> => openWhenThere(work, { log, waits, ...config });
  const db = await whenThere(() => openDatabase(config, onError));
  const webhooks = new Senders(config.webhooks, { db, metrics, log, now });
  const names = new DeviceNames(db, onError);
  const deviceName = (source: string): string | undefined => names.nameOf(source);
  const announcer = config.announceMqtt === undefined ? null : new Announcer({ config, metrics, log, now, deviceName });
  const settler = new Settler(db, onError);
  const writer = createWriter(db, { metrics, log, webhooks, announcer, settler });
  const decoding = new Decoding({ threads: config.threads, queue: config.queue, log });
  const registry = new Registry({ db, decoding, maxConfigs: config.maxConfigs, now });
  const previews = new Previews(config, metrics, now);
  const live = new Live({ db, previews, maxCameras: config.maxCameras, now, onError });
  const traces = openTraces(config, log);
  const intake = new Intake({ ...config, decoding, registry, writer, metrics, now, traces });
  const refused = new RefusedRequests({ db, log, now });
  addGauges(metrics, writer, decoding);
  let broker: Broker | null = null;
  let mqtt: MqttSource | null = null;
  const tokens = config.hub === undefined ? null : new DeviceTokens(now);
  const { hub, hubSeconds } = config;
  const documents = hub === undefined ? null : new HubDocuments({ hub, hubSeconds, db, log, now });
  const closeParts = async (): Promise<void> => {
    await documents?.stop();
    await writer.idle();
    await settler.stop();
    await traces?.close();
    await refused.write();
    await webhooks.stop();
    await announcer?.stop();
    await decoding.close();
    await db.close();
  };
  try {
    const retention = new Retention({ ...config, db, log, onDeleted: () => webhooks.countDeleted(), now });
    // Read the trusted time before frames come. Under a wrong clock, frames would get times in the future. This and the
    // configs are written, for which a full disk may have no room although the database is open.
    await whenThere(() => retention.open());
    await whenThere(() => loadConfigs(config, registry));
    if (documents) documents.onChange = (document) => tokens!.use(document);
    await documents?.start();
    const app = createApp({
      ...{ db, writer, intake, registry, previews, refused, live, metrics, log, now, names },
      ...config,
      guards: createGuards(config, metrics, log, now, tokens),
      framers: () => [hub, documents?.document?.issuer].filter((address) => address !== undefined),
      hubState: () => (documents === null ? "none" : (documents.problem ?? "ok")),
      decoding: () => decoding.stats,
      broker: () => (config.nats === undefined ? null : (broker?.state() ?? Promise.resolve("away"))),
      webhooks,
      announcing: () => (announcer === null ? "none" : (announcer.problem ?? "ok")),
      mqtt: () => (config.mqtt === undefined ? "none" : (mqtt?.problem ?? "ok")),
    });
    const listening = await openPort(app, config, metrics, log);
    // Do not wait for the brokers, since HTTP works without them.
    const end = new AbortController();
    const options = { config, intake, registry, previews, db, metrics, log, now };
    mqtt = config.mqtt === undefined ? null : new MqttSource(options);
    void startBroker(config, options, end.signal).then((found) => {
      broker = found;
      // Stop the broker at once if the host was stopped while connecting.
      if (end.signal.aborted) void found?.stop();
    });
    await retention.logSize();
    retention.start();
    webhooks.start();
    const stop = async (): Promise<void> => {
      end.abort();
      await Promise.all([listening.stop(), broker?.stop(), mqtt?.stop(), retention.stop()]);
      await closeParts();
    };
    let stopping: Promise<void> | undefined;
    return { port: listening.port, db, metrics, stop: () => (stopping ??= stop()) };
  } catch (error) {
    await closeParts();
    throw error;
  }
}

/** Returns the sender of traces; null without a collector. Agents choose which frames the host traces. */
function openTraces({ traces: url }: Config, log: Logger): Traces | null {
  if (url === undefined) return null;
  return new Traces({ url, service: "boxwright-host", share: 1, onProblem: logTo(log) });
}

interface WriterParts {
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly webhooks: Senders;
  readonly announcer: Announcer | null;
  readonly settler: Settler;
}

function createWriter(db: Database, { metrics, log, webhooks, announcer, settler }: WriterParts): Writer {
  return new Writer(db, metrics, {
    onProblem(problem) {
      if (problem === null) log.info("the database takes frames again");
      else log.error({ problem }, "the database takes no frames: senders keep them until it does");
    },
    onInsert: (tx, frames) => webhooks.queue(tx, frames),
    onDurable(frames) {
      settler.note(frames.length);
      webhooks.wake();
      announcer?.take(frames);
    },
  });
}

function openPort(listener: RequestListener, config: Config, metrics: Metrics, log: Logger): Promise<Listening> {
  return listen({
    place: { address: config.address, port: config.port, addressName: "--address", portName: "--port" },
    listener,
    log,
    maxHeaderSize: MOST_HEADER_BYTES,
    // Set no limit per address, since agents behind one router share an address. Bodies have their own limits.
    perAddress: undefined,
    connections: MOST_CONNECTIONS,
    onRefused: () => metrics.denied.inc({ what: "connection" }),
    drainMs: DRAIN_MS,
  });
}

/**
 * Loads the configs that the operator's settings name.
 * @throws UserError that lists every invalid config; UnavailableError if the database takes none
 */
async function loadConfigs({ configs }: Config, registry: Registry): Promise<void> {
  const problems: string[] = [];
  for (const path of configs)
    try {
      const given: unknown = JSON.parse(readFileSync(path, "utf8"));
      // A file holds a config, or an object with config and options as agents send it.
      const isWrapped = typeof given === "object" && given !== null && "config" in given;
      const hash = await registry.put(null, JSON.stringify(isWrapped ? given : { config: given }));
      registry.fallback ??= hash;
    } catch (error) {
      if (error instanceof UnavailableError || (error instanceof Refusal && !error.isForGood)) throw error;
      problems.push(`configs: got ${JSON.stringify(path)}, expected a config (${messageOf(error)})`);
    }
  if (problems.length > 0) throw new UserError(problems.join("\n"));
}

/** Connects to the NATS broker, and retries until this succeeds. Logs each new reason of failure once. */
async function startBroker(
  { nats }: Config,
  options: Parameters<typeof Broker.start>[1],
  signal: AbortSignal,
): Promise<Broker | null> {
  let logged = "";
  while (nats !== undefined && !signal.aborted)
    try {
      return await Broker.start(nats, options);
    } catch (error) {
      const problem = connectionProblem(error);
      if (problem !== logged)
        options.log.error({ broker: new URL(nats).host, error: problem }, "cannot use the broker, trying again");
      logged = problem;
      await sleep(BROKER_RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  return null;
}

function addGauges(metrics: Metrics, writer: Writer, decoding: Decoding): void {
  addGauge(metrics, "store_waiting", "Frames that wait for a transaction", () => writer.waiting);
  addGauge(metrics, "decode_waiting", "Raw frames that wait for a thread", () => decoding.stats?.waiting ?? 0);
  addGauge(metrics, "decode_restarts", "Threads that died and were started anew", () => decoding.stats?.restarts ?? 0);
  for (const p of ["p50", "p99"] as const)
    addGauge(metrics, `decode_${p}_seconds`, "Time of a decode", () => (decoding.stats?.decode[p] ?? 0) / 1000);
}
