/**
 * Messages between hub, agent and host: one type for each body, and a function that checks it on arrival. Field names
 * are those on the wire. A check throws a ProtocolError that names the field, what it got and what it expected. Unknown
 * fields pass, because hub and agents are updated on different days.
 */
import {
  count,
  flag,
  line,
  list,
  milliseconds,
  within,
  nullable,
  object,
  optional,
  pattern,
  ProtocolError,
  time,
  webAddress,
  type Check,
} from "./body-checks.ts";

export { ProtocolError } from "./body-checks.ts";

/** Seconds between two heartbeats. A device that misses three of them is offline. */
export const HEARTBEAT_SECONDS = 30;
/** Count of the last pictures of a recorded source that a host keeps, and that an agent sends. */
export const KEPT_PICTURES = 8;
/** The public document of a hub, from which a host learns keys and revoked devices. */
export const HUB_DOCUMENT_PATH = "/.well-known/boxwright-hub.json";
/** The CloudEvents source of a device's packets is this, or begins with this and a slash. */
export const deviceSource = (deviceId: string): string => `device:${deviceId}`;

export interface EnrolRequest {
  readonly adopt_key: string;
  readonly name: string;
  readonly model: string;
  readonly architecture: string;
  /** Version of the agent. */
  readonly version: string;
  /** Stays the same when the agent is installed anew. An enrolment whose answer was lost is repeated under it. */
  readonly serial_number?: string | undefined;
}

export interface EnrolAnswer {
  readonly device_id: string;
  readonly credential: string;
  readonly name: string;
  /** Name of the team. */
  readonly team: string;
}

export interface Problem {
  readonly code: string;
  readonly message: string;
}

/** What the device runs. `version` is the ETag of the config, without quotes. */
export interface ApplicationState {
  readonly identifier: string | null;
  readonly version: string | null;
  readonly state: "applied" | "failed" | "none";
  readonly error?: Problem | undefined;
}

export interface NetworkInterface {
  readonly name: string;
  readonly ipv4: string;
  readonly mac: string;
}

export interface Heartbeat {
  /** Grows with each heartbeat, over restarts too. A counter that goes back tells of a copied credential. */
  readonly counter: number;
  /** Random, new with each start of the agent. */
  readonly process_id: string;
  readonly version: string;
  readonly model: string;
  readonly architecture: string;
  /** Clock of the device, in ISO 8601. */
  readonly time: string;
  readonly application: ApplicationState;
  /** Frames since the agent started. `dropped` ones came too fast; `lost` ones failed or were never delivered. */
  readonly frames: number;
  readonly dropped: number;
  readonly lost: number;
  readonly decode_ms: { readonly p50: number | null; readonly p99: number | null };
  /** Bytes and frames that wait for a receiver, and the most bytes that may wait. */
  readonly spool: { readonly bytes: number; readonly limit: number; readonly frames: number };
  readonly last_error?: string | null | undefined;
  readonly network_interfaces?: readonly NetworkInterface[] | undefined;
  /** Page of the host that receives the packets. */
  readonly host_url?: string | null | undefined;
  /** True if the device takes no frames, since the hub paused it. Absent from agents older than pauses. */
  readonly paused?: boolean | undefined;
}

export interface HeartbeatAnswer {
  /** Clock of the hub, in ISO 8601. */
  readonly time: string;
  readonly interval_seconds: number;
  /** ETag of the config that the device should run, without quotes; null: none. */
  readonly desired_version: string | null;
  /** True: ask for a new credential. */
  readonly rotate: boolean;
  /** True: somebody asked for a snap of the next frame. */
  readonly snap_requested: boolean;
  /** True if the device has to take no frames until an answer says false. Absent from hubs older than pauses. */
  readonly paused: boolean;
}

export interface RotateAnswer {
  readonly credential: string;
}

export interface TokenAnswer {
  /** JWT, signed with EdDSA. Claims: iss, sub (device id), name (of the device), team (id), iat, exp. */
  readonly token: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

export interface DesiredConfig {
  readonly application: {
    readonly identifier: string;
    readonly name: string;
    readonly version: number;
    readonly hash: string;
  };
  /** null: the model file says how to decode. */
  readonly config: Readonly<Record<string, unknown>> | null;
  /** Options of `createDetector`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly model: { readonly sha256: string; readonly size: number; readonly name: string } | null;
  readonly snaps: readonly SnapRule[];
}

/** The agent sends a snap of a frame with such a detection. Without `class`, every class counts. */
export interface SnapRule {
  readonly name: string;
  readonly class?: string | undefined;
  readonly min_confidence: number;
  readonly per_hour: number;
}

export interface ConfigReport {
  /** ETag of the config, without quotes. */
  readonly version: string;
  readonly state: "applied" | "failed";
  readonly error?: Problem | undefined;
}

export interface SnapFile {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly content_type: string;
  readonly classification: string;
}

export interface SnapRequest {
  /** Chosen by the device, so that a snap that is sent twice is stored once. */
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly extras: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly application?: string | null | undefined;
  /** CloudEvent whose data holds the detections. */
  readonly event: Readonly<Record<string, unknown>>;
  readonly files: readonly SnapFile[];
}

export interface SnapAnswer {
  readonly snap_id: string;
  /** Hashes of files that the hub lacks. */
  readonly missing: readonly string[];
}

/** Tokens of the device are void if their `iat` is below `before`, in seconds since 1970. */
export interface Revoked {
  readonly device_id: string;
  readonly before: number;
}

export interface HubDocument {
  readonly issuer: string;
  /** JSON Web Keys with `kid`. */
  readonly keys: readonly Readonly<Record<string, unknown>>[];
  readonly revoked: readonly Revoked[];
}

const word = line(1, 100);
const version = line(1, 64);
const etag = pattern("a version as in ETag, without quotes", /^[\w.:@-]{1,128}$/);
/** The address of a hub, letter by letter as its tokens name it: a parsed address may have one more slash. */
const issuer: Check<string> = (value, name) => {
  webAddress(value, name);
  return value as string;
};
const token = pattern("a token", /^[\w.~+/=-]{16,4096}$/);

const problem: Check<Problem> = (value, name) => {
  const { code, message } = object(value, name);
  return { code: line(1, 64)(code, `${name}.code`), message: line(0, 1000)(message, `${name}.message`) };
};

const networkInterface: Check<NetworkInterface> = (value, name) => {
  const given = object(value, name);
  return {
    name: line(1, 64)(given["name"], `${name}.name`),
    ipv4: line(0, 15)(given["ipv4"] ?? "", `${name}.ipv4`),
    mac: line(0, 17)(given["mac"] ?? "", `${name}.mac`),
  };
};

export function readEnrolRequest(body: unknown): EnrolRequest {
  const given = object(body, "body");
  if (typeof given["adopt_key"] !== "string") throw new ProtocolError("adopt_key: got none, expected a text");
  return {
    adopt_key: given["adopt_key"],
    name: word(given["name"], "name"),
    model: word(given["model"], "model"),
    architecture: version(given["architecture"], "architecture"),
    version: version(given["version"], "version"),
    serial_number: optional(word)(given["serial_number"], "serial_number"),
  };
}

const application: Check<ApplicationState> = (value, name) => {
  const given = object(value, name);
  return {
    identifier: nullable(word)(given["identifier"], `${name}.identifier`),
    version: nullable(etag)(given["version"], `${name}.version`),
    state: pattern("applied, failed or none", /^(applied|failed|none)$/)(
      given["state"],
      `${name}.state`,
    ) as ApplicationState["state"],
    error: optional(problem)(given["error"], `${name}.error`),
  };
};

export function readHeartbeat(body: unknown): Heartbeat {
  const given = object(body, "body");
  const decode = object(given["decode_ms"], "decode_ms");
  const spool = object(given["spool"], "spool");
  return {
    counter: count(given["counter"], "counter"),
    process_id: pattern("1 to 64 letters, digits, _ or -", /^[\w-]{1,64}$/)(given["process_id"], "process_id"),
    version: version(given["version"], "version"),
    model: word(given["model"], "model"),
    architecture: version(given["architecture"], "architecture"),
    time: time(given["time"], "time"),
    application: application(given["application"], "application"),
    frames: count(given["frames"], "frames"),
    dropped: count(given["dropped"], "dropped"),
    lost: count(given["lost"], "lost"),
    decode_ms: { p50: milliseconds(decode["p50"], "decode_ms.p50"), p99: milliseconds(decode["p99"], "decode_ms.p99") },
    spool: {
      bytes: count(spool["bytes"], "spool.bytes"),
      limit: count(spool["limit"], "spool.limit"),
      frames: count(spool["frames"], "spool.frames"),
    },
    last_error: optional(line(0, 1000))(given["last_error"], "last_error"),
    network_interfaces: optional(list(16, networkInterface))(given["network_interfaces"], "network_interfaces"),
    host_url: optional(webAddress)(given["host_url"], "host_url"),
    paused: optional(flag)(given["paused"], "paused"),
  };
}

export function readReport(body: unknown): ConfigReport {
  const given = object(body, "body");
  return {
    version: etag(given["version"], "version"),
    state: pattern("applied or failed", /^(applied|failed)$/)(given["state"], "state") as ConfigReport["state"],
    error: optional(problem)(given["error"], "error"),
  };
}

export function readEnrolAnswer(body: unknown): EnrolAnswer {
  const given = object(body, "body");
  return {
    device_id: word(given["device_id"], "device_id"),
    credential: token(given["credential"], "credential"),
    name: line(0, 200)(given["name"], "name"),
    team: line(0, 200)(given["team"], "team"),
  };
}

export function readHeartbeatAnswer(body: unknown): HeartbeatAnswer {
  const given = object(body, "body");
  return {
    time: time(given["time"], "time"),
    interval_seconds: count(given["interval_seconds"], "interval_seconds"),
    desired_version: nullable(etag)(given["desired_version"], "desired_version"),
    rotate: flag(given["rotate"], "rotate"),
    snap_requested: flag(given["snap_requested"], "snap_requested"),
    paused: optional(flag)(given["paused"], "paused") ?? false,
  };
}

export const readRotateAnswer = (body: unknown): RotateAnswer => ({
  credential: token(object(body, "body")["credential"], "credential"),
});

export function readTokenAnswer(body: unknown): TokenAnswer {
  const given = object(body, "body");
  return { token: token(given["token"], "token"), expires_at: time(given["expires_at"], "expires_at") };
}

const snapRule: Check<SnapRule> = (value, name) => {
  const given = object(value, name);
  return {
    name: line(1, 56)(given["name"], `${name}.name`),
    class: optional(line(1, 200))(given["class"], `${name}.class`),
    min_confidence: within(0, 1)(given["min_confidence"], `${name}.min_confidence`),
    per_hour: count(given["per_hour"], `${name}.per_hour`),
  };
};

/** Checks all but config and options, which the decoder checks. */
export function readDesiredConfig(body: unknown): DesiredConfig {
  const given = object(body, "body");
  const about = object(given["application"], "application");
  return {
    application: {
      identifier: word(about["identifier"], "application.identifier"),
      name: line(0, 200)(about["name"], "application.name"),
      version: count(about["version"], "application.version"),
      hash: line(1, 128)(about["hash"], "application.hash"),
    },
    config: nullable(object)(given["config"], "config"),
    options: nullable(object)(given["options"], "options") ?? {},
    model: nullable((value, name) => {
      const file = object(value, name);
      return {
        sha256: pattern("a SHA-256", /^[\da-f]{64}$/)(file["sha256"], `${name}.sha256`),
        size: count(file["size"], `${name}.size`),
        name: line(0, 300)(file["name"], `${name}.name`),
      };
    })(given["model"], "model"),
    snaps: nullable(list(64, snapRule))(given["snaps"], "snaps") ?? [],
  };
}

export function readSnapAnswer(body: unknown): SnapAnswer {
  const given = object(body, "body");
  return {
    snap_id: line(1, 128)(given["snap_id"], "snap_id"),
    missing: list(64, pattern("a SHA-256", /^[\da-f]{64}$/))(given["missing"], "missing"),
  };
}

export function readHubDocument(body: unknown): HubDocument {
  const given = object(body, "body");
  return {
    issuer: issuer(given["issuer"], "issuer"),
    keys: list(32, object)(given["keys"], "keys"),
    revoked: list(1_000_000, (value, name): Revoked => {
      const { device_id, before } = object(value, name);
      return { device_id: word(device_id, `${name}.device_id`), before: count(before, `${name}.before`) };
    })(given["revoked"], "revoked"),
  };
}
