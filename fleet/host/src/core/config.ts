/** Reads the configuration: defaults, a JSON file, then flags. One error lists all problems. */
import { MQTT_TOPIC, isTopic, readMqttAddress } from "boxwright-service/mqtt";
import { by, isWebAddress, secret, show, showSetting, text } from "boxwright-service/schema/json";
import {
  ConfigProblems,
  databasePlace,
  type Option,
  isLoopback,
  logLevel,
  number,
  readOptions,
  texts,
  type ValuesOf,
} from "boxwright-service/schema/options";
import * as v from "valibot";
import { type Webhook, webhooks } from "./webhooks.ts";

const token = secret("at least 16 letters, digits, . _ ~ + / = or -", /^[\w.~+/=-]{16,256}$/);
const MIB = 2 ** 20;

/** Accepts a hub's address, and returns it without a slash at the end. */
const hubAddress = by((given) => {
  const url = typeof given === "string" && isWebAddress(given) ? new URL(given) : null;
  if (url && url.search === "" && url.hash === "") return url.href.replace(/\/+$/, "");
  throw new Error(`got ${showSetting(given)}, expected an address like https://hub.example.org`);
});
const GB = 1e9;

/** Accepts a broker's address. The error does not repeat the address, which may contain a password. */
const mqttPlace = v.custom<string>(
  (given) => typeof given === "string" && readMqttAddress(given) !== null,
  "got another text, expected an address like mqtt://127.0.0.1:1883 or mqtts://user:password@machine",
);

/** Accepts a collector's address. The error does not repeat the address, which may contain a password. */
const collector = v.custom<string>(
  (given) => typeof given === "string" && isWebAddress(given),
  "got another text, expected the address of a collector, like http://localhost:4318, without user and password",
);

const mqttTopic = v.custom<string>(
  (given) => typeof given === "string" && isTopic(given),
  "a topic without +, # and $, and without a slash at its ends",
);

/** Every option. `boxwright-host --help` prints this list. */
export const options = {
  address: {
    schema: text("an address to listen on"),
    about: "address to listen on; default 127.0.0.1, and 0.0.0.0 once pageToken and agentToken (or hub) are set",
  },
  port: { schema: number(0, 65535), fallback: 8790, about: "port to listen on; 0 takes any free one" },
  agentToken: { schema: token, about: "token that agents send as Authorization: Bearer" },
  pageToken: { schema: token, about: "token of the page and the query API: Bearer, or the password in a browser" },
  hub: {
    schema: hubAddress,
    about: "address of the hub whose devices may send, each by a token that the hub signs for it",
  },
  hubSeconds: {
    schema: number(0.1, 3600, false),
    fallback: 30,
    about: "seconds between two reads of the hub's keys and revoked devices",
  },
  database: {
    schema: databasePlace,
    fallback: "boxwright-host.db",
    about: "SQLite file, or address of a PostgreSQL database that several hosts share",
  },
  databasePool: { schema: number(1, 100), fallback: 4, about: "PostgreSQL connections of this process" },
  keepDays: {
    schema: number(0, 36_500, false),
    fallback: 30,
    about: "days after which frames are deleted; 0 keeps all",
  },
  keepBytes: {
    schema: number(0, 2 ** 50),
    fallback: 20 * GB,
    about: "bytes of frames beyond which the oldest are deleted; 0 sets no limit",
  },
  nats: {
    schema: secret("an address like nats://127.0.0.1:4222", /^(nats|tls):\/\/\S+$/),
    about: "NATS server with JetStream; without it packets come over HTTP only",
  },
  mqtt: {
    schema: mqttPlace,
    about: "MQTT 5 broker whose packets this host takes, mqtt://127.0.0.1:1883 or mqtts://user:password@machine",
  },
  mqttTopic: {
    schema: mqttTopic,
    fallback: MQTT_TOPIC,
    about: "MQTT topic above those of packets, configs and previews: the same on agents and hosts",
  },
  mqttClient: {
    schema: text("a client id of at most 64 letters, digits, - and _", /^[\w-]{1,64}$/),
    fallback: "boxwright-host",
    about: "client id at the MQTT broker, which keeps packets under it while the host is away; another for each host",
  },
  mqttGroup: {
    schema: text("the name of a group, of at most 64 letters, digits, - and _", /^[\w-]{1,64}$/),
    about: "group of hosts that share the packets of the MQTT broker, and one database; default: this host gets each",
  },
  partitions: { schema: number(1, 256), fallback: 1, about: "partitions of the stream: the same on agents and hosts" },
  consume: { schema: texts(number(0, 255)), about: "partitions that this host takes; default all" },
  streamBytes: {
    schema: number(MIB, 2 ** 50),
    fallback: 1024 * MIB,
    about: "most bytes of a stream that this host makes; a full one refuses, and agents spool",
  },
  ackWait: {
    schema: number(1, 3600, false),
    fallback: 30,
    about: "seconds after which the broker delivers a packet again that nobody acknowledged",
  },
  inFlight: { schema: number(1, 1024), fallback: 16, about: "packets that a broker gives this host at once" },
  webhooks: {
    schema: by(webhooks),
    fallback: [] as Webhook[],
    about: "outside addresses that get detections, each signed; in the config file alone (docs/webhooks.md)",
  },
  announceMqtt: {
    schema: mqttPlace,
    about: "MQTT 5 broker to which this host tells what is seen (docs/announce.md); default: none",
  },
  announceTopic: { schema: mqttTopic, fallback: MQTT_TOPIC, about: "topic above those of what is seen" },
  announceAs: {
    schema: texts(v.picklist(["onvif", "home-assistant"], "expected onvif or home-assistant")),
    fallback: ["onvif", "home-assistant"] as ("onvif" | "home-assistant")[],
    about: "forms of what is seen: onvif (Profile M metadata in JSON), home-assistant (MQTT discovery)",
  },
  announceDiscovery: { schema: mqttTopic, fallback: "homeassistant", about: "discovery prefix of Home Assistant" },
  traces: {
    schema: collector,
    about: "OpenTelemetry collector (OTLP/HTTP) that gets the traces of frames that agents trace; default: none",
  },
  configs: {
    schema: texts(text("the path of a JSON file")),
    fallback: [] as string[],
    about: "config files known from the start; the first one decodes packets that name no config",
  },
  maxConfigs: { schema: number(1, 1024), fallback: 64, about: "configs that the host decodes with" },
  threads: { schema: number(1, 256), about: "threads that decode; default: one less than processors" },
  queue: {
    schema: number(1, 1024),
    fallback: 8,
    about: "raw frames of a camera that may wait; more are refused with 429",
  },
  maxPacketBytes: { schema: number(1024, 64 * MIB), fallback: 8 * MIB, about: "most bytes of a packet" },
  maxRequests: {
    schema: number(1, 4096),
    fallback: 64,
    about: "room for bodies, in whole packets; slow ones share half of it",
  },
  minBodyRate: {
    schema: number(0, MIB),
    fallback: 8192,
    about: "least bytes a second of a body; a slower one is refused with 408. 0 takes any",
  },
  maxBodySeconds: {
    schema: number(1, 3600, false),
    fallback: 60,
    about: "most seconds of a body; a longer one is refused with 408",
  },
  proxyHops: {
    schema: number(0, 10),
    fallback: 0,
    about: "proxies in front that add to X-Forwarded-For: senders are told apart by it",
  },
  maxPreviewBytes: { schema: number(1024, 16 * MIB), fallback: MIB / 2, about: "most bytes of a preview picture" },
  maxPreviewPixels: { schema: number(64, 2 ** 26), fallback: 2 ** 22, about: "most pixels of a preview picture" },
  previewsPerSecond: { schema: number(0.01, 100, false), fallback: 5, about: "preview pictures a second of a camera" },
  maxCameras: { schema: number(1, 10_000), fallback: 128, about: "cameras on the page, each with its last preview" },
  logLevel: {
    schema: logLevel,
    fallback: "info",
    about: "least level that is logged",
  },
} satisfies Readonly<Record<string, Option>>;

/** The checked options. */
export type Config = ValuesOf<typeof options> & { readonly address: string };

/**
 * Returns the configuration.
 * @param file parsed config file
 * @param flags options of command line and environment by name, which override the file
 * @param found problems that were already found in the command line
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

/** Returns the options that must be set before other machines may reach the host, or "" if all are set. */
export function missingForOthers({ agentToken, hub, pageToken }: Config): string {
  const senders = (agentToken ?? hub) === undefined ? ["agentToken (or hub)"] : [];
  return [...senders, ...(pageToken === undefined ? ["pageToken"] : [])].join(" and ");
}

/** Returns problems of options that contradict each other. */
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
