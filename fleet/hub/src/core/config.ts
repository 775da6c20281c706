/**
 * Configuration: defaults, then a JSON file, then the environment. The hub checks all settings at start, and reports
 * all problems at once.
 */
import { by, oneOf, secret, show, text } from "boxwright-service/schema/json";
import {
  ConfigProblems,
  databasePlace,
  type Option,
  isLoopback,
  logLevel,
  misspeltVariables,
  number,
  option,
  readJsonFile,
  readOptions,
  type ValuesOf,
} from "boxwright-service/schema/options";
import * as v from "valibot";
import { MAX_DEVICES } from "./answer.ts";

const MIB = 2 ** 20;

/** Settings that a bucket requires. */
const OF_BUCKET = ["s3Endpoint", "s3Bucket", "s3AccessKeyId", "s3SecretAccessKey"] as const;
/** Largest number of bytes that a store accepts in one request. */
const MOST_OBJECT_BYTES = 5 * 2 ** 30;

/** Returns the problems of the bucket's settings in combination. */
function bucketProblems(config: Config): string[] {
  const missing = OF_BUCKET.filter((name) => config[name] === undefined);
  if (missing.length === OF_BUCKET.length) return [];
  const names = missing.map(variableOf).join(", ");
  if (missing.length > 0) return [`HUB_S3_*: got no ${names}, expected all of a bucket or none`];
  const { modelBytes } = config;
  if (modelBytes <= MOST_OBJECT_BYTES) return [];
  return [
    `modelBytes: got ${modelBytes}, expected at most ${MOST_OBJECT_BYTES}: a bucket takes no larger file at once`,
  ];
}

const origin = by((given) => {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url?.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  if (isPlain && /^https?:$/.test(url.protocol)) return url.origin;
  throw new Error(`got ${show(given)}, expected an address like https://hub.example.org, without a path`);
});

/**
 * Address of the OpenID Connect provider. Without TLS, tokens would travel unencrypted, so http is accepted only for
 * this machine.
 */
const issuer = by((given) => {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : undefined;
  const isLocal = url?.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/g, ""));
  if (url !== undefined && (url.protocol === "https:" || isLocal) && url.search === "" && url.username === "")
    return url.href;
  throw new Error(`got ${show(given)}, expected an https address like https://login.example.org`);
});

/**
 * The path of the SQLite file. An address with a password belongs in DATABASE_URL, and no message repeats the password.
 */
const sqliteFile = v.pipe(
  databasePlace,
  v.check((place) => !place.includes("://"), "got an address, expected the path of a file; set DATABASE_URL instead"),
);

/** Variables for the hub's clients and tests. The hub itself does not read these variables as options. */
const OF_OTHERS = ["HUB_CONFIG", "HUB_API_KEY", "HUB_URL", "HUB_TOKEN", "HUB_CI"];

/** Returns the environment variable of an option. */
export function variableOf(name: string): string {
  if (name === "databaseUrl") return "DATABASE_URL";
  if (name === "filesFolder") return "HUB_FILES";
  return `HUB_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

/** Every option. `boxwright-hub --help` and `boxwright-hub config` print this list. */
export const options = {
  databaseUrl: option(
    "PostgreSQL; without it the hub keeps a SQLite file",
    secret("an address like postgres://user:password@host/name", /^postgres(ql)?:\/\//),
  ),
  databaseFile: option("the SQLite file", sqliteFile, "hub.db"),
  databasePool: option("PostgreSQL connections of one process", number(1, 1000), 10),
  host: option("address to listen on", text("an address to listen on"), "127.0.0.1"),
  port: option("port to listen on; 0 takes any free one", number(0, 65535), 8787),
  baseUrl: option("the address that browsers and backends use; by default http://localhost:PORT", origin),
  tlsCert: option("certificate chain, for TLS without a proxy", text("the path of a PEM file")),
  tlsKey: option("private key of the certificate", text("the path of a PEM file")),
  proxyHops: option("how many proxies stand in front and add to X-Forwarded-For", number(0, 10), 0),
  metricsToken: option(
    "bearer token for /metrics; without it only this machine may read them",
    secret("at least 16 letters, digits, _ or -", /^[\w-]{16,}$/),
  ),
  logLevel: option("least level that is logged", logLevel, "info"),
  maxDevices: option("devices a team may have", number(1, MAX_DEVICES), 5000),
  keyRate: option("requests a second of one API key", number(0.1, 1e6, false), 100),
  keyBurst: option("requests of one API key at once", number(1, 1e6), 200),
  addressRate: option("requests a second of one address (IPv6: one /64)", number(0.1, 1e6, false), 200),
  addressBurst: option("requests of one address at once", number(1, 1e6), 400),
  addressConnections: option(
    "open connections of one address; a proxy in front has to limit them itself",
    number(1, 65_535),
    256,
  ),
  connections: option(
    "open connections in all; each device keeps one, and one more while it waits for a config",
    number(64, 65_535),
    20_000,
  ),
  signInsPerMinute: option("sign-ins a minute, of one address and for one account", number(0.1, 1e6, false), 6),
  signInBurst: option("sign-ins at once, of one address and for one account", number(1, 1e6), 10),
  sessionIdleMinutes: option("a session ends after this long without a request", number(2, 43_200), 480),
  sessionHours: option("a session ends after this long in any case", number(1, 8760), 168),
  auditDays: option(
    "rows of the audit are deleted after so many days, but for those that say who lost access",
    number(1, 36_500),
    365,
  ),
  drainSeconds: option(
    "after SIGTERM: seconds of answering on, with /readyz at 503, before the port closes",
    number(0, 300, false),
    0,
  ),
  heartbeatSeconds: option(
    "seconds between two heartbeats of a device; after three missed ones it is offline",
    number(1, 3600),
    30,
  ),
  filesFolder: option(
    "folder of model files and snaps; hubs on one database share it. With a bucket: of what is on its way there",
    text("the path of a folder"),
    "hub-files",
  ),
  s3Endpoint: option(
    "address of an S3-compatible store that keeps model files and snaps, with the other HUB_S3 settings",
    origin,
  ),
  s3Bucket: option(
    "the bucket; the hub deletes files there that its database does not name",
    text("the name of a bucket", /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  ),
  s3Region: option(
    "region of the bucket; stores without regions take the default",
    text("the name of a region", /^[\w-]{1,64}$/),
    "us-east-1",
  ),
  s3Prefix: option(
    "stands before each name in the bucket; two hubs on two databases need two prefixes or two buckets",
    text("letters, digits, . _ - and a slash at the end, such as hub/", /^([\w.-]+\/)*$/),
    "",
  ),
  s3AccessKeyId: option(
    "id of a key that may put, get, delete and list objects of the bucket",
    text("the id of a key of the store", /^[!-~]{3,128}$/),
  ),
  s3SecretAccessKey: option("its secret", secret("the secret of that key, without spaces", /^[!-~]+$/)),
  modelBytes: option("bytes of one model file", number(1, 2 ** 40), 256 * MIB),
  teamModelBytes: option("bytes of all model files of a team", number(1, 2 ** 50), 4096 * MIB),
  snapFileBytes: option("bytes of one file of a snap", number(1, 2 ** 30), 8 * MIB),
  teamSnapBytes: option(
    "bytes of all snaps of a team; the oldest are deleted to make room",
    number(1, 2 ** 50),
    4096 * MIB,
  ),
  snapDays: option("days after which a snap is deleted", number(1, 3650), 30),
  snapsPerHour: option("snaps an hour of one device", number(1, 1e6), 360),
  snapBytesPerHour: option("bytes of snaps an hour of one device", number(1, 2 ** 40), 256 * MIB),
  webhookAddresses: option(
    "where webhooks of alerts may go: https addresses of the public internet, or any, inside your network too",
    oneOf(["public", "any"]),
    "public",
  ),
  smtpUrl: option(
    "mail server for alerts, with HUB_MAIL_FROM; smtp:// turns to TLS if the server can",
    secret("an address like smtps://user:password@mail.example.org", /^smtps?:\/\/[^\s/]+\/?$/),
  ),
  mailFrom: option("sender of those mails", text("an email address", /^[^\s@,;<>]+@[^\s@,;<>]+$/)),
  oidcIssuer: option(
    "provider of OpenID Connect by which people sign in, with HUB_OIDC_CLIENT_ID and HUB_OIDC_CLIENT_SECRET",
    issuer,
  ),
  oidcClientId: option(
    "id of the hub at the provider; its redirect address there is HUB_BASE_URL/sign-in/oidc/callback",
    text("the id that the provider gave the hub", /^[!-~]{1,255}$/),
  ),
  oidcClientSecret: option(
    "secret of the hub at the provider",
    secret("the secret that the provider gave the hub, without spaces", /^[!-~]+$/),
  ),
  oidcName: option(
    "how the sign-in page calls the provider",
    text("a name of 1 to 40 characters", /^.{1,40}$/),
    "your company's account",
  ),
  oidcTeam: option(
    "team that people of the provider join who have no account; without it they need an invitation",
    text("the id of a team (boxwright-hub teams list)", /^[0-9a-f-]{36}$/),
  ),
  oidcRole: option("their role there", oneOf(["viewer", "member"]), "viewer"),
} satisfies Readonly<Record<string, Option>>;

export type Config = ValuesOf<typeof options>;

/** Returns the configuration, or throws `ConfigProblems`. `file` is the parsed JSON of the config file. */
export function readConfig(env: Readonly<Record<string, string | undefined>>, file: unknown = {}): Config {
  // Treat an empty variable as unset, since people empty a variable in order to unset it.
  const given = Object.keys(options).map((name) => {
    const where = variableOf(name);
    return [name, env[where] ? { where, value: env[where] } : undefined] as const;
  });
  const { values, problems } = readOptions(options, file, Object.fromEntries(given), variableOf);
  problems.push(...misspeltVariables(env, "HUB_", [...Object.keys(options).map(variableOf), ...OF_OTHERS]));
  const config = values as unknown as Config;
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    problems.push(
      `tlsCert, tlsKey: got only ${config.tlsCert === undefined ? "tlsKey" : "tlsCert"}, expected both or neither`,
    );
  }
  const secured = config.tlsCert !== undefined || config.proxyHops > 0;
  if (!isLoopback(config.host) && !secured) {
    problems.push(
      `host: got ${show(config.host)}, which other machines reach, without TLS; expected tlsCert and tlsKey, or proxyHops (a proxy in front that speaks TLS), or a loopback address`,
    );
  }
  problems.push(...bucketProblems(config));
  if ((config.smtpUrl === undefined) !== (config.mailFrom === undefined))
    problems.push("HUB_SMTP_URL, HUB_MAIL_FROM: got only one of them, expected both or neither");
  const ofProvider = [config.oidcIssuer, config.oidcClientId, config.oidcClientSecret].filter((value) => value == null);
  if (ofProvider.length % 3 !== 0)
    problems.push(
      "HUB_OIDC_ISSUER, HUB_OIDC_CLIENT_ID, HUB_OIDC_CLIENT_SECRET: got some of them, expected all or none",
    );
  if (secured && config.baseUrl === undefined)
    problems.push("baseUrl (HUB_BASE_URL): got none, expected the https address that clients use");
  if (
    config.baseUrl?.startsWith("http:") === true &&
    (secured || !isLoopback(new URL(config.baseUrl).hostname.replace(/^\[|\]$/g, "")))
  ) {
    problems.push(
      `baseUrl: got ${show(config.baseUrl)}, expected https: browsers keep the session cookie only there (or on localhost)`,
    );
  }
  if (problems.length > 0) throw new ConfigProblems(problems);
  // A base URL with https, but no certificate here: a proxy on this machine handles TLS. Trust one proxy then.
  // Otherwise, all callers would share the proxy's address in every limit, and could read /metrics.
  const behindProxy = !secured && config.baseUrl?.startsWith("https:") === true;
  return behindProxy ? { ...config, proxyHops: 1 } : config;
}

/** Reads the file that `--config` or HUB_CONFIG names. */
export const readConfigFile = (path: string | undefined): unknown => (path ? readJsonFile(path) : {});
