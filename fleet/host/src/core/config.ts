/** Reads the configuration: defaults, a JSON file, then flags. One error lists all problems. */
import { readFileSync } from "node:fs";
import { UserError, messageOf } from "boxwright-service/errors";

export interface Config {
  readonly address: string;
  readonly port: number;
  readonly agentToken: string | undefined;
  readonly pageToken: string | undefined;
  readonly database: string;
  readonly databasePool: number;
  readonly keepDays: number;
  readonly keepBytes: number;
  readonly nats: string | undefined;
  readonly partitions: number;
  readonly consume: readonly number[] | undefined;
  readonly streamBytes: number;
  readonly ackWait: number;
  readonly inFlight: number;
  readonly configs: readonly string[];
  readonly maxConfigs: number;
  readonly threads: number | undefined;
  readonly queue: number;
  readonly maxPacketBytes: number;
  readonly maxRequests: number;
  readonly maxPreviewBytes: number;
  readonly maxPreviewPixels: number;
  readonly previewsPerSecond: number;
  readonly maxCameras: number;
  readonly logLevel: string;
}

/** Returns the parsed value. Throws an Error that says what was got and what was expected. */
type Parse = (given: unknown) => unknown;

const show = (given: unknown): string => JSON.stringify(given) ?? typeof given;

function number(min: number, max: number, isWhole = true): Parse {
  return (given) => {
    const value = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
    if (typeof value !== "number" || !(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
      throw new Error(`got ${show(given)}, expected ${isWhole ? "a whole number" : "a number"} from ${min} to ${max}`);
    return value;
  };
}

/** Parses a text. The message about a secret text does not repeat it. */
function text(what: string, pattern = /\S/, isSecret = false): Parse {
  return (given) => {
    if (typeof given === "string" && pattern.test(given)) return given;
    const got = isSecret && typeof given === "string" ? `a text of ${given.length} characters` : show(given);
    throw new Error(`got ${got}, expected ${what}`);
  };
}

/** Parses a list, or text with commas. */
function list(item: Parse): Parse {
  return (given) => {
    const items: unknown = typeof given === "string" ? given.split(",").map((part) => part.trim()) : given;
    if (!Array.isArray(items)) throw new Error(`got ${show(given)}, expected a list`);
    return items.map((value) => item(value));
  };
}

const token = text("at least 16 letters, digits, . _ ~ + / = or -", /^[\w.~+/=-]{16,256}$/, true);
const MIB = 2 ** 20;
const GB = 1e9;

interface Option {
  readonly parse: Parse;
  readonly fallback?: unknown;
  readonly about: string;
}

/** Every option. `boxwright-host --help` prints this list. */
export const options: Readonly<Record<keyof Config, Option>> = {
  address: {
    parse: text("an address to listen on"),
    about: "address to listen on; default 127.0.0.1, and 0.0.0.0 once both tokens are set",
  },
  port: { parse: number(0, 65535), fallback: 8790, about: "port to listen on; 0 takes any free one" },
  agentToken: { parse: token, about: "token that agents send as Authorization: Bearer" },
  pageToken: { parse: token, about: "token of the page and the query API: Bearer, or the password in a browser" },
  database: {
    parse: text("a file, or an address like postgres://user:password@machine/name", /\S/, true),
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
    parse: text("an address like nats://127.0.0.1:4222", /^(nats|tls):\/\/\S+$/, true),
    about: "NATS server with JetStream; without it packets come over HTTP only",
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
  inFlight: { parse: number(1, 1024), fallback: 16, about: "packets of the broker that this host works on at once" },
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
  maxRequests: { parse: number(1, 4096), fallback: 64, about: "bodies read at once; more are refused with 503" },
  maxPreviewBytes: { parse: number(1024, 16 * MIB), fallback: MIB / 2, about: "most bytes of a preview picture" },
  maxPreviewPixels: { parse: number(64, 2 ** 26), fallback: 2 ** 22, about: "most pixels of a preview picture" },
  previewsPerSecond: { parse: number(0.01, 100, false), fallback: 5, about: "preview pictures a second of a camera" },
  maxCameras: { parse: number(1, 10_000), fallback: 128, about: "cameras on the page, each with its last preview" },
  logLevel: {
    parse: text("one of trace, debug, info, warn, error, silent", /^(trace|debug|info|warn|error|silent)$/),
    fallback: "info",
    about: "least level that is logged",
  },
};

export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127(\.\d{1,3}){3}$/.test(address);

/**
 * Returns the configuration.
 * @param file what the config file holds
 * @param flags options of command line and environment by name, which go before those of the file
 * @throws UserError that lists every problem
 */
export function readConfig(file: unknown, flags: Readonly<Record<string, unknown>> = {}): Config {
  const problems: string[] = [];
  const isObject = typeof file === "object" && file !== null && !Array.isArray(file);
  if (!isObject) problems.push(`config file: got ${show(file).slice(0, 40)}, expected a JSON object`);
  const given: Record<string, unknown> = { ...(isObject ? file : {}), ...flags };
  for (const name of Object.keys(given))
    if (!Object.hasOwn(options, name))
      problems.push(`${name}: got an option that does not exist, expected one of ${Object.keys(options).join(", ")}`);
  const values: Record<string, unknown> = {};
  for (const [name, { parse, fallback }] of Object.entries(options)) {
    values[name] = fallback;
    if (given[name] === undefined) continue;
    try {
      values[name] = parse(given[name]);
    } catch (error) {
      problems.push(`${name}: ${messageOf(error)}`);
    }
  }
  const config = values as unknown as Config;
  const address = config.address ?? (config.agentToken && config.pageToken ? "0.0.0.0" : "127.0.0.1");
  problems.push(...checkTogether({ ...config, address }));
  if (problems.length > 0)
    throw new UserError(
      `${problems.length} problem${problems.length === 1 ? "" : "s"} in the configuration:\n${problems.map((line) => `  ${line}`).join("\n")}`,
    );
  return { ...config, address };
}

/** Returns the problems of options that contradict each other. */
function checkTogether({ address, agentToken, pageToken, consume, partitions }: Config): string[] {
  const problems: string[] = [];
  const missing = Object.entries({ agentToken, pageToken }).filter(([, value]) => value === undefined);
  if (!isLoopback(address) && missing.length > 0)
    problems.push(
      `address: got ${show(address)}, which other machines reach, without ${missing.map(([name]) => name).join(" and ")}; expected both tokens, or a loopback address`,
    );
  if (agentToken !== undefined && agentToken === pageToken)
    problems.push("pageToken: got the token of the agents, expected another: who looks must not be able to send");
  for (const partition of consume ?? [])
    if (partition >= partitions) problems.push(`consume: got ${partition}, expected numbers below ${partitions}`);
  return problems;
}

/** Reads a JSON file that the operator named. */
export function readJsonFile(path: string, what = "config file"): unknown {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    throw new UserError(`${what}: got ${show(path)}, expected a readable file (${messageOf(error)})`);
  }
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new UserError(`${what} ${path}: got text that is not JSON (${messageOf(error)})`);
  }
}
