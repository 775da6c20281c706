/** Checks the settings of a sink. */
import type { Fields } from "./fields.ts";
import type { SinkSettings } from "./types.ts";

/** Largest count of partitions: hosts take as many (`partitions` in host/src/core/config.ts). */
const MOST_PARTITIONS = 256;
const KINDS = ["ndjson", "http", "nats"] as const;

export function readSink(fields: Fields): SinkSettings {
  const kind = fields.choice("kind", KINDS);
  const sink = readKind(kind, fields);
  fields.end();
  return sink;
}

function readKind(kind: (typeof KINDS)[number], fields: Fields): SinkSettings {
  const name = fields.text("name", kind);
  if (kind === "ndjson") return { kind, name, path: fields.path("path") };
  const token = fields.secret("token", "tokenFile");
  if (kind === "http") {
    const url = fields.text("url");
    if (url && !isAddress(url)) fields.problem("url", `got "${url}", expected http:// or https:// and a host`);
    return { kind, name, url: url.replace(/\/+$/, ""), token, inFlight: fields.number("inFlight", [1, 64], 4) };
  }
  const given = fields.value("servers");
  const servers = Array.isArray(given) ? given.filter((server) => typeof server === "string") : [];
  if (servers.length === 0 || servers.length !== (given as unknown[]).length)
    fields.problem("servers", 'expected a list of addresses, ["127.0.0.1:4222"]');
  for (const server of servers) if (!isBroker(server)) fields.problem("servers", `got "${server}", ${EXPECTED}`);
  // Without a count the stream says how many partitions there are.
  const partitions = fields.optionalNumber("partitions", [1, MOST_PARTITIONS]);
  return { kind, name, servers, token, partitions, inFlight: fields.number("inFlight", [1, 1024], 16) };
}

function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const EXPECTED = "expected a host and port, nats:// or tls://, with user:password@ if the broker asks for them";

/** True if the text is an address of a broker. The protocol may be left out. */
function isBroker(text: string): boolean {
  const address = text.includes("://") ? text : `nats://${text}`;
  return URL.canParse(address) && /^(nats|tls):$/.test(new URL(address).protocol) && new URL(address).hostname !== "";
}
