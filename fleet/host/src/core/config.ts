/** Reads the configuration: defaults, a JSON file, then flags. One error lists all problems. */
import { MQTT_TOPIC, isTopic, readMqttAddress } from "boxwright-service/mqtt";
import { by, hubAddressOf, isWebAddress, secret, show, showSetting, text } from "boxwright-service/schema/json";
import {
  ConfigProblems,
  databasePlace,
  type Option,
  isLoopback,
  logLevel,
  number,
  option,
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
  const address = typeof given === "string" ? hubAddressOf(given) : null;
  if (address !== null) return address;
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
  address: option(
    "address to listen on; default 127.0.0.1, and 0.0.0.0 once pageToken and agentToken (or hub) are set",
    text("an address to listen on"),
  ),
  port: option("port to listen on; 0 takes any free one", number(0, 65535), 8790),
  agentToken: option("token that agents send as Authorization: Bearer", token),
  pageToken: option("token of the page and the query API: Bearer, or the password in a browser", token),
  hub: option("address of the hub whose devices may send, each by a token that the hub signs for it", hubAddress),
  hubSeconds: option("seconds between two reads of the hub's keys and revoked devices", number(0.1, 3600, false), 30),
  database: option(
    "SQLite file, or address of a PostgreSQL database that several hosts share",
    databasePlace,
    "boxwright-host.db",
  ),
  databasePool: option("PostgreSQL connections of this process", number(1, 100), 4),
  keepDays: option("days after which frames are deleted; 0 keeps all", number(0, 36_500, false), 30),
  keepBytes: option(
    "bytes of frames beyond which the oldest are deleted; 0 sets no limit",
    number(0, 2 ** 50),
    20 * GB,
  ),
  nats: option(
    "NATS server with JetStream; without it packets come over HTTP only",
    secret("an address like nats://127.0.0.1:4222", /^(nats|tls):\/\/\S+$/),
  ),
  mqtt: option(
    "MQTT 5 broker whose packets this host takes, mqtt://127.0.0.1:1883 or mqtts://user:password@machine",
    mqttPlace,
  ),
  mqttTopic: option(
    "MQTT topic above those of packets, configs and previews: the same on agents and hosts",
    mqttTopic,
    MQTT_TOPIC,
  ),
  mqttClient: option(
    "client id at the MQTT broker, which keeps packets under it while the host is away; another for each host",
    text("a client id of at most 64 letters, digits, - and _", /^[\w-]{1,64}$/),
    "boxwright-host",
  ),
  mqttGroup: option(
    "group of hosts that share the packets of the MQTT broker, and one database; default: this host gets each",
    text("the name of a group, of at most 64 letters, digits, - and _", /^[\w-]{1,64}$/),
  ),
  partitions: option("partitions of the stream: the same on agents and hosts", number(1, 256), 1),
  consume: option("partitions that this host takes; default all", texts(number(0, 255))),
  streamBytes: option(
    "most bytes of a stream that this host makes; a full one refuses, and agents spool",
    number(MIB, 2 ** 50),
    1024 * MIB,
  ),
  ackWait: option(
    "seconds after which the broker delivers a packet again that nobody acknowledged",
    number(1, 3600, false),
    30,
  ),
  inFlight: option("packets that a broker gives this host at once", number(1, 1024), 16),
  webhooks: option(
    "outside addresses that get detections, each signed; in the config file alone (docs/webhooks.md)",
    by(webhooks),
    [] as Webhook[],
  ),
  announceMqtt: option(
    "MQTT 5 broker to which this host tells what is seen (docs/announce.md); default: none",
    mqttPlace,
  ),
  announceTopic: option("topic above those of what is seen", mqttTopic, MQTT_TOPIC),
  announceAs: option(
    "forms of what is seen: onvif (Profile M metadata in JSON), home-assistant (MQTT discovery)",
    texts(v.picklist(["onvif", "home-assistant"], "expected onvif or home-assistant")),
    ["onvif", "home-assistant"] as ("onvif" | "home-assistant")[],
  ),
  announceDiscovery: option("discovery prefix of Home Assistant", mqttTopic, "homeassistant"),
  traces: option(
    "OpenTelemetry collector (OTLP/HTTP) that gets the traces of frames that agents trace; default: none",
    collector,
  ),
  configs: option(
    "config files known from the start; the first one decodes packets that name no config",
    texts(text("the path of a JSON file")),
    [] as string[],
  ),
  maxConfigs: option("configs that the host decodes with", number(1, 1024), 64),
  threads: option("threads that decode; default: one less than processors", number(1, 256)),
  queue: option("raw frames of a camera that may wait; more are refused with 429", number(1, 1024), 8),
  maxPacketBytes: option("most bytes of a packet", number(1024, 64 * MIB), 8 * MIB),
  maxRequests: option("room for bodies, in whole packets; slow ones share half of it", number(1, 4096), 64),
  minBodyRate: option(
    "least bytes a second of a body; a slower one is refused with 408. 0 takes any",
    number(0, MIB),
    8192,
  ),
  maxBodySeconds: option("most seconds of a body; a longer one is refused with 408", number(1, 3600, false), 60),
  proxyHops: option("proxies in front that add to X-Forwarded-For: senders are told apart by it", number(0, 10), 0),
  maxPreviewBytes: option("most bytes of a preview picture", number(1024, 16 * MIB), MIB / 2),
  maxPreviewPixels: option("most pixels of a preview picture", number(64, 2 ** 26), 2 ** 22),
  previewsPerSecond: option("preview pictures a second of a camera", number(0.01, 100, false), 5),
  maxCameras: option("cameras on the page, each with its last preview", number(1, 10_000), 128),
  logLevel: option("least level that is logged", logLevel, "info"),
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
