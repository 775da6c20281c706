/** Checks the settings of a sink. */
import { type MqttAddress, MQTT_TOPIC, isTopic, readMqttAddress } from "boxwright-service/mqtt";
import { withoutSecrets } from "../core/errors.ts";
import type { Fields } from "./fields.ts";
import type { MqttSettings, SinkSettings } from "./types.ts";

/** Largest number of partitions, the same as in hosts (`partitions` in host/src/core/config.ts). */
const MOST_PARTITIONS = 256;
const KINDS = ["ndjson", "http", "nats", "mqtt"] as const;
/** Largest number of bytes of a packet that hosts accept by default (`maxPacketBytes` in host/src/core/config.ts). */
const PACKET_BYTES = 8 * 2 ** 20;

/** Placeholder for a sink of unknown kind, which is never opened, since the settings have a problem. */
const NONE: SinkSettings = { kind: "ndjson", name: "", path: "" };

export function readSink(fields: Fields): SinkSettings {
  const kind = fields.kind("kind", KINDS);
  const sink = kind === null ? NONE : readKind(kind, fields);
  fields.end();
  return sink;
}

function readKind(kind: (typeof KINDS)[number], fields: Fields): SinkSettings {
  const name = fields.text("name", kind);
  if (kind === "ndjson") return { kind, name, path: fields.path("path") };
  if (kind === "mqtt") return readMqtt(name, fields);
  const token = fields.secret("token", "tokenFile");
  if (kind === "http") {
    const url = fields.text("url");
    if (url && !isAddress(url))
      fields.problem("url", `got "${withoutSecrets(url)}", expected http:// or https:// and a host`);
    return { kind, name, url: url.replace(/\/+$/, ""), token, inFlight: fields.number("inFlight", [1, 64], 4) };
  }
  const given = fields.value("servers");
  const servers = Array.isArray(given) ? given.filter((server) => typeof server === "string") : [];
  if (servers.length === 0 || servers.length !== (given as unknown[]).length)
    fields.problem("servers", 'expected a list of addresses, ["127.0.0.1:4222"]');
  for (const server of servers)
    if (!isBroker(server)) fields.problem("servers", `got "${withoutSecrets(server)}", ${EXPECTED}`);
  // Without a number, the stream itself states its partitions.
  const partitions = fields.optionalNumber("partitions", [1, MOST_PARTITIONS]);
  return { kind, name, servers, token, partitions, inFlight: fields.number("inFlight", [1, 1024], 16) };
}

function readMqtt(name: string, fields: Fields): MqttSettings {
  const topic = fields.text("topic", MQTT_TOPIC);
  if (topic !== "" && !isTopic(topic))
    fields.problem("topic", `got "${topic}", expected a topic without +, # and $, and without a slash at its ends`);
  return {
    kind: "mqtt",
    name,
    address: readMqttPlace(fields),
    topic,
    inFlight: fields.number("inFlight", [1, 1024], 16),
    confirmSeconds: fields.number("confirmSeconds", [0, 3600], 30),
    maxPacketBytes: fields.number("maxPacketBytes", [1024, 2 ** 28 - 2 ** 20], PACKET_BYTES),
  };
}

/** Reads the address. User and password are part of the address or separate fields. */
function readMqttPlace(fields: Fields): MqttAddress {
  const url = fields.text("url");
  const user = fields.optionalText("user");
  const password = fields.secret("password", "passwordFile");
  const place = readMqttAddress(url);
  if (url !== "" && !place)
    fields.problem(
      "url",
      `got "${withoutSecrets(url)}", expected an address like mqtt://broker:1883 or mqtts://broker`,
    );
  const { host = "", port = 0, isEncrypted = false } = place ?? {};
  return { host, port, isEncrypted, user: user ?? place?.user ?? null, password: password ?? place?.password ?? null };
}

function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const EXPECTED = "expected a host and port, nats:// or tls://, with user:password@ if the broker asks for them";

/** True if the text is a broker's address, with or without the protocol. */
function isBroker(text: string): boolean {
  const address = text.includes("://") ? text : `nats://${text}`;
  return URL.canParse(address) && /^(nats|tls):$/.test(new URL(address).protocol) && new URL(address).hostname !== "";
}
