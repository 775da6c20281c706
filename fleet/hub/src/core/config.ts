/**
 * Configuration: defaults, then a JSON file, then the environment. The hub checks all settings at start, and reports
 * all problems at once.
 */
import { by, oneOf, secret, show, text } from "boxwright-service/schema/json";
import {
  ConfigProblems,
  databasePlace,
  type Option as PlainOption,
  isLoopback,
  logLevel,
  misspeltVariables,
  number,
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
  const names = missing.map((name) => options[name].env).join(", ");
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

interface Option extends PlainOption {
  readonly env: string;
}

/** Every option. `boxwright-hub --help` and `boxwright-hub config` print this list. */
export const options = {
  databaseUrl: {
    env: "DATABASE_URL",
    schema: secret("an address like postgres://user:password@host/name", /^postgres(ql)?:\/\//),
    about: "PostgreSQL; without it the hub keeps a SQLite file",
  },
  databaseFile: {
    env: "HUB_DATABASE_FILE",
    schema: sqliteFile,
    fallback: "hub.db",
    about: "the SQLite file",
  },
  databasePool: {
    env: "HUB_DATABASE_POOL",
    schema: number(1, 1000),
    fallback: 10,
    about: "PostgreSQL connections of one process",
  },
  host: {
    env: "HUB_HOST",
    schema: text("an address to listen on"),
    fallback: "127.0.0.1",
    about: "address to listen on",
  },
  port: { env: "HUB_PORT", schema: number(0, 65535), fallback: 8787, about: "port to listen on; 0 takes any free one" },
  baseUrl: {
    env: "HUB_BASE_URL",
    schema: origin,
    about: "the address that browsers and backends use; by default http://localhost:PORT",
  },
  tlsCert: {
    env: "HUB_TLS_CERT",
    schema: text("the path of a PEM file"),
    about: "certificate chain, for TLS without a proxy",
  },
  tlsKey: { env: "HUB_TLS_KEY", schema: text("the path of a PEM file"), about: "private key of the certificate" },
  proxyHops: {
    env: "HUB_PROXY_HOPS",
    schema: number(0, 10),
    fallback: 0,
    about: "how many proxies stand in front and add to X-Forwarded-For",
  },
  metricsToken: {
    env: "HUB_METRICS_TOKEN",
    schema: secret("at least 16 letters, digits, _ or -", /^[\w-]{16,}$/),
    about: "bearer token for /metrics; without it only this machine may read them",
  },
  logLevel: {
    env: "HUB_LOG_LEVEL",
    schema: logLevel,
    fallback: "info",
    about: "least level that is logged",
  },
  maxDevices: {
    env: "HUB_MAX_DEVICES",
    schema: number(1, MAX_DEVICES),
    fallback: 5000,
    about: "devices a team may have",
  },
  keyRate: {
    env: "HUB_KEY_RATE",
    schema: number(0.1, 1e6, false),
    fallback: 100,
    about: "requests a second of one API key",
  },
  keyBurst: { env: "HUB_KEY_BURST", schema: number(1, 1e6), fallback: 200, about: "requests of one API key at once" },
  addressRate: {
    env: "HUB_ADDRESS_RATE",
    schema: number(0.1, 1e6, false),
    fallback: 200,
    about: "requests a second of one address (IPv6: one /64)",
  },
  addressBurst: {
    env: "HUB_ADDRESS_BURST",
    schema: number(1, 1e6),
    fallback: 400,
    about: "requests of one address at once",
  },
  addressConnections: {
    env: "HUB_ADDRESS_CONNECTIONS",
    schema: number(1, 65_535),
    fallback: 256,
    about: "open connections of one address; a proxy in front has to limit them itself",
  },
  connections: {
    env: "HUB_CONNECTIONS",
    schema: number(64, 65_535),
    fallback: 20_000,
    about: "open connections in all; each device keeps one, and one more while it waits for a config",
  },
  signInsPerMinute: {
    env: "HUB_SIGN_INS_PER_MINUTE",
    schema: number(0.1, 1e6, false),
    fallback: 6,
    about: "sign-ins a minute, of one address and for one account",
  },
  signInBurst: {
    env: "HUB_SIGN_IN_BURST",
    schema: number(1, 1e6),
    fallback: 10,
    about: "sign-ins at once, of one address and for one account",
  },
  sessionIdleMinutes: {
    env: "HUB_SESSION_IDLE_MINUTES",
    schema: number(2, 43_200),
    fallback: 480,
    about: "a session ends after this long without a request",
  },
  sessionHours: {
    env: "HUB_SESSION_HOURS",
    schema: number(1, 8760),
    fallback: 168,
    about: "a session ends after this long in any case",
  },
  auditDays: {
    env: "HUB_AUDIT_DAYS",
    schema: number(1, 36_500),
    fallback: 365,
    about: "rows of the audit are deleted after so many days, but for those that say who lost access",
  },
  drainSeconds: {
    env: "HUB_DRAIN_SECONDS",
    schema: number(0, 300, false),
    fallback: 0,
    about: "after SIGTERM: seconds of answering on, with /readyz at 503, before the port closes",
  },
  heartbeatSeconds: {
    env: "HUB_HEARTBEAT_SECONDS",
    schema: number(1, 3600),
    fallback: 30,
    about: "seconds between two heartbeats of a device; after three missed ones it is offline",
  },
  filesFolder: {
    env: "HUB_FILES",
    schema: text("the path of a folder"),
    fallback: "hub-files",
    about: "folder of model files and snaps; hubs on one database share it. With a bucket: of what is on its way there",
  },
  s3Endpoint: {
    env: "HUB_S3_ENDPOINT",
    schema: origin,
    about: "address of an S3-compatible store that keeps model files and snaps, with the other HUB_S3 settings",
  },
  s3Bucket: {
    env: "HUB_S3_BUCKET",
    schema: text("the name of a bucket", /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
    about: "the bucket; the hub deletes files there that its database does not name",
  },
  s3Region: {
    env: "HUB_S3_REGION",
    schema: text("the name of a region", /^[\w-]{1,64}$/),
    fallback: "us-east-1",
    about: "region of the bucket; stores without regions take the default",
  },
  s3Prefix: {
    env: "HUB_S3_PREFIX",
    schema: text("letters, digits, . _ - and a slash at the end, such as hub/", /^([\w.-]+\/)*$/),
    fallback: "",
    about: "stands before each name in the bucket; two hubs on two databases need two prefixes or two buckets",
  },
  s3AccessKeyId: {
    env: "HUB_S3_ACCESS_KEY_ID",
    schema: text("the id of a key of the store", /^[!-~]{3,128}$/),
    about: "id of a key that may put, get, delete and list objects of the bucket",
  },
  s3SecretAccessKey: {
    env: "HUB_S3_SECRET_ACCESS_KEY",
    schema: secret("the secret of that key, without spaces", /^[!-~]+$/),
    about: "its secret",
  },
  modelBytes: {
    env: "HUB_MODEL_BYTES",
    schema: number(1, 2 ** 40),
    fallback: 256 * MIB,
    about: "bytes of one model file",
  },
  teamModelBytes: {
    env: "HUB_TEAM_MODEL_BYTES",
    schema: number(1, 2 ** 50),
    fallback: 4096 * MIB,
    about: "bytes of all model files of a team",
  },
  snapFileBytes: {
    env: "HUB_SNAP_FILE_BYTES",
    schema: number(1, 2 ** 30),
    fallback: 8 * MIB,
    about: "bytes of one file of a snap",
  },
  teamSnapBytes: {
    env: "HUB_TEAM_SNAP_BYTES",
    schema: number(1, 2 ** 50),
    fallback: 4096 * MIB,
    about: "bytes of all snaps of a team; the oldest are deleted to make room",
  },
  snapDays: {
    env: "HUB_SNAP_DAYS",
    schema: number(1, 3650),
    fallback: 30,
    about: "days after which a snap is deleted",
  },
  snapsPerHour: {
    env: "HUB_SNAPS_PER_HOUR",
    schema: number(1, 1e6),
    fallback: 360,
    about: "snaps an hour of one device",
  },
  snapBytesPerHour: {
    env: "HUB_SNAP_BYTES_PER_HOUR",
    schema: number(1, 2 ** 40),
    fallback: 256 * MIB,
    about: "bytes of snaps an hour of one device",
  },
  webhookAddresses: {
    env: "HUB_WEBHOOK_ADDRESSES",
    schema: oneOf(["public", "any"]),
    fallback: "public",
    about: "where webhooks of alerts may go: https addresses of the public internet, or any, inside your network too",
  },
  smtpUrl: {
    env: "HUB_SMTP_URL",
    schema: secret("an address like smtps://user:password@mail.example.org", /^smtps?:\/\/[^\s/]+\/?$/),
    about: "mail server for alerts, with HUB_MAIL_FROM; smtp:// turns to TLS if the server can",
  },
  mailFrom: {
    env: "HUB_MAIL_FROM",
    schema: text("an email address", /^[^\s@,;<>]+@[^\s@,;<>]+$/),
    about: "sender of those mails",
  },
  oidcIssuer: {
    env: "HUB_OIDC_ISSUER",
    schema: issuer,
    about: "provider of OpenID Connect by which people sign in, with HUB_OIDC_CLIENT_ID and HUB_OIDC_CLIENT_SECRET",
  },
  oidcClientId: {
    env: "HUB_OIDC_CLIENT_ID",
    schema: text("the id that the provider gave the hub", /^[!-~]{1,255}$/),
    about: "id of the hub at the provider; its redirect address there is HUB_BASE_URL/sign-in/oidc/callback",
  },
  oidcClientSecret: {
    env: "HUB_OIDC_CLIENT_SECRET",
    schema: secret("the secret that the provider gave the hub, without spaces", /^[!-~]+$/),
    about: "secret of the hub at the provider",
  },
  oidcName: {
    env: "HUB_OIDC_NAME",
    schema: text("a name of 1 to 40 characters", /^.{1,40}$/),
    fallback: "your company's account",
    about: "how the sign-in page calls the provider",
  },
  oidcTeam: {
    env: "HUB_OIDC_TEAM",
    schema: text("the id of a team (boxwright-hub teams list)", /^[0-9a-f-]{36}$/),
    about: "team that people of the provider join who have no account; without it they need an invitation",
  },
  oidcRole: {
    env: "HUB_OIDC_ROLE",
    schema: oneOf(["viewer", "member"]),
    fallback: "viewer",
    about: "their role there",
  },
} satisfies Readonly<Record<string, Option>>;

export type Config = ValuesOf<typeof options>;

/** Returns the configuration, or throws `ConfigProblems`. `file` is the parsed JSON of the config file. */
export function readConfig(env: Readonly<Record<string, string | undefined>>, file: unknown = {}): Config {
  // Treat an empty variable as unset, since people empty a variable in order to unset it.
  const given = Object.entries(options).map(
    ([name, { env: where }]) => [name, env[where] ? { where, value: env[where] } : undefined] as const,
  );
  const { values, problems } = readOptions(options, file, Object.fromEntries(given));
  const variables = Object.values(options).map((option) => option.env);
  problems.push(...misspeltVariables(env, "HUB_", [...variables, ...OF_OTHERS]));
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
