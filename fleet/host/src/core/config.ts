/** Reads the configuration: defaults, a JSON file, then flags. One error lists all problems. */
import { MQTT_TOPIC, isTopic, readMqttAddress } from "boxwright-service/mqtt";
import {
  ConfigProblems,
  databasePlace,
  type Option,
  isLoopback,
  list,
  logLevel,
  number,
  readOptions,
  secret,
  show,
  text,
} from "boxwright-service/options";
import { type Webhook, webhooks } from "./webhooks.ts";

export interface Config {
  readonly address: string;
  readonly port: number;
  readonly agentToken: string | undefined;
  readonly pageToken: string | undefined;
  readonly hub: string | undefined;
  readonly hubSeconds: number;
  readonly database: string;
  readonly databasePool: number;
  readonly keepDays: number;
  readonly keepBytes: number;
  readonly nats: string | undefined;
  readonly mqtt: string | undefined;
  readonly mqttTopic: string;
  readonly mqttClient: string;
  readonly mqttGroup: string | undefined;
  readonly partitions: number;
  readonly consume: readonly number[] | undefined;
  readonly streamBytes: number;
  readonly ackWait: number;
  readonly inFlight: number;
  readonly webhooks: readonly Webhook[];
  readonly configs: readonly string[];
  readonly maxConfigs: number;
  readonly threads: number | undefined;
  readonly queue: number;
  readonly maxPacketBytes: number;
  readonly maxRequests: number;
  readonly minBodyRate: number;
  readonly maxBodySeconds: number;
  readonly proxyHops: number;
  readonly maxPreviewBytes: number;
  readonly maxPreviewPixels: number;
  readonly previewsPerSecond: number;
  readonly maxCameras: number;
  readonly logLevel: string;
}

const token = secret("at least 16 letters, digits, . _ ~ + / = or -", /^[\w.~+/=-]{16,256}$/);
const MIB = 2 ** 20;

/** Parses an address of a hub, without a slash at its end. */
const hubAddress = (given: unknown): string => {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "" && url.hash === "")
    return url.href.replace(/\/+$/, "");
  throw new Error(`got ${show(given)}, expected an address like https://hub.example.org`);
};
const GB = 1e9;

/** Parses the address of a broker. The message does not repeat it: it may hold a password. */
const mqttPlace = (given: unknown): string => {
  if (typeof given === "string" && readMqttAddress(given)) return given;
  throw new Error("got another text, expected an address like mqtt://127.0.0.1:1883 or mqtts://user:password@machine");
};

/** Every option. `boxwright-host --help` prints this list. */
export const options: Readonly<Record<keyof Config, Option>> = {
  address: {
    parse: text("an address to listen on"),
    about: "address to listen on; default 127.0.0.1, and 0.0.0.0 once pageToken and agentToken (or hub) are set",
  },
  port: { parse: number(0, 65535), fallback: 8790, about: "port to listen on; 0 takes any free one" },
  agentToken: { parse: token, about: "token that agents send as Authorization: Bearer" },
  pageToken: { parse: token, about: "token of the page and the query API: Bearer, or the password in a browser" },
  hub: {
    parse: hubAddress,
    about: "address of the hub whose devices may send, each by a token that the hub signs for it",
  },
  hubSeconds: {
    parse: number(0.1, 3600, false),
    fallback: 30,
    about: "seconds between two reads of the hub's keys and revoked devices",
  },
  database: {
    parse: databasePlace,
    fallback: "boxwright-host.db",
    about: "SQLite file, or address of a PostgreSQL database that several hosts share",
  },
  databasePool: { parse: number(1, 100), fallback: 4, about: "PostgreSQL connections of this process" },
  keepDays: {
    parse: number(0, 36_500, false),
    fallback: 30,
    about: "days after which frames are deleted; 0 keeps all",
  },
  keepBytes: {
    parse: number(0, 2 ** 50),
    fallback: 20 * GB,
    about: "bytes of frames beyond which the oldest are deleted; 0 sets no limit",
  },
  nats: {
    parse: secret("an address like nats://127.0.0.1:4222", /^(nats|tls):\/\/\S+$/),
    about: "NATS server with JetStream; without it packets come over HTTP only",
  },
  mqtt: {
    parse: mqttPlace,
    about: "MQTT 5 broker whose packets this host takes, mqtt://127.0.0.1:1883 or mqtts://user:password@machine",
  },
  mqttTopic: {
    parse: (given) => {
      if (typeof given === "string" && isTopic(given)) return given;
      throw new Error(`got ${show(given)}, expected a topic without +, # and $, and without a slash at its ends`);
    },
    fallback: MQTT_TOPIC,
    about: "MQTT topic above those of packets, configs and previews: the same on agents and hosts",
  },
  mqttClient: {
    parse: text("a client id of at most 64 letters, digits, - and _", /^[\w-]{1,64}$/),
    fallback: "boxwright-host",
    about: "client id at the MQTT broker, which keeps packets under it while the host is away; another for each host",
  },
  mqttGroup: {
    parse: text("the name of a group, of at most 64 letters, digits, - and _", /^[\w-]{1,64}$/),
    about: "group of hosts that share the packets of the MQTT broker, and one database; default: this host gets each",
  },
  partitions: { parse: number(1, 256), fallback: 1, about: "partitions of the stream: the same on agents and hosts" },
  consume: { parse: list(number(0, 255)), about: "partitions that this host takes; default all" },
  streamBytes: {
    parse: number(MIB, 2 ** 50),
    fallback: 1024 * MIB,
    about: "most bytes of a stream that this host makes; a full one refuses, and agents spool",
  },
  ackWait: {
    parse: number(1, 3600, false),
    fallback: 30,
    about: "seconds after which the broker delivers a packet again that nobody acknowledged",
  },
  inFlight: { parse: number(1, 1024), fallback: 16, about: "packets that a broker gives this host at once" },
  webhooks: {
    parse: webhooks,
    fallback: [],
    about: "outside addresses that get detections, each signed; in the config file alone (docs/webhooks.md)",
  },
  configs: {
    parse: list(text("the path of a JSON file")),
    fallback: [],
    about: "config files known from the start; the first one decodes packets that name no config",
  },
  maxConfigs: { parse: number(1, 1024), fallback: 64, about: "configs that the host decodes with" },
  threads: { parse: number(1, 256), about: "threads that decode; default: one less than processors" },
  queue: {
    parse: number(1, 1024),
    fallback: 8,
    about: "raw frames of a camera that may wait; more are refused with 429",
  },
  maxPacketBytes: { parse: number(1024, 64 * MIB), fallback: 8 * MIB, about: "most bytes of a packet" },
  maxRequests: {
    parse: number(1, 4096),
    fallback: 64,
    about: "room for bodies, in whole packets; slow ones share half of it",
  },
  minBodyRate: {
    parse: number(0, MIB),
    fallback: 8192,
    about: "least bytes a second of a body; a slower one is refused with 408. 0 takes any",
  },
  maxBodySeconds: {
    parse: number(1, 3600, false),
    fallback: 60,
    about: "most seconds of a body; a longer one is refused with 408",
  },
  proxyHops: {
    parse: number(0, 10),
    fallback: 0,
    about: "proxies in front that add to X-Forwarded-For: senders are told apart by it",
  },
  maxPreviewBytes: { parse: number(1024, 16 * MIB), fallback: MIB / 2, about: "most bytes of a preview picture" },
  maxPreviewPixels: { parse: number(64, 2 ** 26), fallback: 2 ** 22, about: "most pixels of a preview picture" },
  previewsPerSecond: { parse: number(0.01, 100, false), fallback: 5, about: "preview pictures a second of a camera" },
  maxCameras: { parse: number(1, 10_000), fallback: 128, about: "cameras on the page, each with its last preview" },
  logLevel: {
    parse: logLevel,
    fallback: "info",
    about: "least level that is logged",
  },
};

/**
 * Returns the configuration.
 * @param file what the config file holds
 * @param flags options of command line and environment by name, which go before those of the file
 * @param found problems that the command line has already
 * @throws ConfigProblems that lists every problem
 */
export function readConfig(
  file: unknown,
  flags: Readonly<Record<string, unknown>> = {},
  found: readonly string[] = [],
): Config {
  const given = Object.entries(flags).map(([where, value]) => [where, { where, value }] as const);
  const { values, problems } = readOptions(options, file, Object.fromEntries(given));
  const config = values as unknown as Config;
  const address = config.address ?? ((config.agentToken ?? config.hub) && config.pageToken ? "0.0.0.0" : "127.0.0.1");
  problems.unshift(...found);
  problems.push(...checkTogether({ ...config, address }));
  if (problems.length > 0) throw new ConfigProblems(problems);
  return { ...config, address };
}

/** Returns the options that are missing before other machines may reach the host; "" if none is. */
export function missingForOthers({ agentToken, hub, pageToken }: Config): string {
  const senders = (agentToken ?? hub) === undefined ? ["agentToken (or hub)"] : [];
  return [...senders, ...(pageToken === undefined ? ["pageToken"] : [])].join(" and ");
}

/** Returns the problems of options that contradict each other. */
function checkTogether(config: Config): string[] {
  const { address, agentToken, pageToken, consume, partitions } = config;
  const problems: string[] = [];
  const missing = missingForOthers(config);
  if (!isLoopback(address) && missing !== "")
    problems.push(
      `address: got ${show(address)}, which other machines reach, without ${missing}; expected it, or a loopback address`,
    );
  if (agentToken !== undefined && agentToken === pageToken)
    problems.push("pageToken: got the token of the agents, expected another: who looks must not be able to send");
  for (const partition of consume ?? [])
    if (partition >= partitions) problems.push(`consume: got ${partition}, expected numbers below ${partitions}`);
  return problems;
}
