/**
 * Messages between hub, agent and host: one schema for each body, and its type. Field names are those on the wire. A
 * body that does not fit is refused by a ProtocolError, which names the field, what it got and what it expected.
 */
import * as v from "valibot";
import {
  anyObject,
  count,
  flag,
  isObject,
  line,
  list,
  looseObject,
  milliseconds,
  nullable,
  object,
  oneOf,
  optional,
  plainAddress,
  readJson,
  text,
  time,
  webAddress,
  within,
  type Fields,
  type Schema,
  type TypeOf,
} from "./json.ts";

import { MOST_LOG_BYTES } from "../device-log.ts";

export { ProtocolError } from "./json.ts";

/** Seconds between heartbeats. A device that misses three is offline. */
export const HEARTBEAT_SECONDS = 30;
/** Count of a recorded source's last pictures that an agent sends and a host keeps. */
export const KEPT_PICTURES = 8;
/** The public document of a hub, from which a host learns keys and revoked devices. */
export const HUB_DOCUMENT_PATH = "/.well-known/boxwright-hub.json";
/** The CloudEvents source of a device's packets is this, or begins with this and a slash. */
export const deviceSource = (deviceId: string): string => `device:${deviceId}`;
/** Types of the pictures of a snap. */
export const PICTURE_TYPES = ["image/jpeg", "image/png", "image/webp"] as const;

const MAX_TAGS = 20;
const MAX_FILES = 20;
const MAX_EXTRAS = 25;

const word = line(1, 100);
const version = line(1, 64);
const snapName = line(1, 56);
/** ETag of a config, without quotes. */
export const etag = text("a version as in ETag, without quotes", /^[\w.:@-]{1,128}$/);
const token = text("a token", /^[\w.~+/=-]{16,4096}$/);
const sha256 = text("a SHA-256 in 64 hexadecimal digits", /^[\da-f]{64}$/);

export const problem = object({ code: line(1, 64), message: line(0, 1000) });
export type Problem = TypeOf<typeof problem>;

const enrolRequest = object({
  adopt_key: v.string("got none, expected a text"),
  name: word,
  model: word,
  architecture: version,
  /** Version of the agent. */
  version,
  /** Stays the same when the agent is reinstalled. A lost enrolment is repeated with it. */
  serial_number: optional(word),
  /** Public key by which the device proves itself to its hub after a restore. */
  public_key: optional(text("an Ed25519 key", /^ed25519:[\w-]{43}$/)),
});
export type EnrolRequest = TypeOf<typeof enrolRequest>;

const enrolAnswer = object({
  device_id: word,
  credential: token,
  name: line(0, 200),
  /** Name of the team. */
  team: line(0, 200),
});
export type EnrolAnswer = TypeOf<typeof enrolAnswer>;

const returnRequest = object({
  device_id: word,
  /** Signature over the last answer's challenge. Absent: the device asks for a challenge. */
  signature: optional(text("64 bytes in base64", /^[\w+/]{86}==$/)),
});

const returnChallenge = object({ challenge: text("a challenge", /^[\w-]{43}$/) });
export type ReturnChallenge = TypeOf<typeof returnChallenge>;

/** State of the device's application. */
const applicationState = object({
  identifier: nullable(word),
  version: nullable(etag),
  state: oneOf(["applied", "failed", "none"]),
  error: optional(problem),
});
export type ApplicationState = TypeOf<typeof applicationState>;

const networkInterface = object({
  name: line(1, 64),
  ipv4: v.nullish(line(0, 15), ""),
  mac: v.nullish(line(0, 17), ""),
});
export type NetworkInterface = TypeOf<typeof networkInterface>;

const heartbeat = object({
  /** Grows with each heartbeat, also over restarts. A decrease shows a copied credential. */
  counter: count,
  /** Random text, new at each start of the agent. */
  process_id: text("1 to 64 letters, digits, _ or -", /^[\w-]{1,64}$/),
  version,
  model: word,
  architecture: version,
  /** Clock of the device, in ISO 8601. */
  time,
  application: applicationState,
  /** Frames since the agent started. `dropped`: came too fast. `lost`: failed or were never delivered. */
  frames: count,
  dropped: count,
  lost: count,
  decode_ms: object({ p50: milliseconds, p99: milliseconds }),
  /** Bytes and frames waiting for a receiver, and the largest allowed bytes. */
  spool: object({ bytes: count, limit: count, frames: count }),
  last_error: v.nullish(line(0, 1000)),
  network_interfaces: optional(list(16, networkInterface)),
  /** Page of the host that receives the packets. */
  host_url: v.nullish(webAddress),
  /** True if the hub paused the device, so it takes no frames. Absent from agents older than pauses. */
  paused: optional(flag),
  /** How the versions of a shadow agree (schema/shadow.ts). The hub reads it apart: a wrong one spoils nothing else. */
  shadow: v.optional(v.unknown()),
});
export type Heartbeat = TypeOf<typeof heartbeat>;

const heartbeatAnswer = object({
  /** Clock of the hub, in ISO 8601. */
  time,
  interval_seconds: count,
  /** ETag of the config that the device should run, without quotes; null: none. */
  desired_version: nullable(etag),
  /** True: request a new credential. */
  rotate: flag,
  /** True: a snap of the next frame was requested. */
  snap_requested: flag,
  /** True: the last lines of the log were requested. Absent from hubs older than logs. */
  log_requested: v.nullish(flag, false),
  /** True: take no frames until an answer says false. Absent from hubs older than pauses. */
  paused: v.nullish(flag, false),
  /** ETag of the agent release to run, without quotes; null or absent: the current one. */
  desired_agent: v.nullish(etag),
  /** Changes with what GET /device/shadow says; null or absent: the device has nothing to compare. */
  shadow: v.nullish(line(1, 128)),
});
export type HeartbeatAnswer = TypeOf<typeof heartbeatAnswer>;

const rotateAnswer = object({ credential: token });
export type RotateAnswer = TypeOf<typeof rotateAnswer>;

const tokenAnswer = object({
  /** JWT, signed with EdDSA. Claims: iss, sub (device id), name (of the device), team (id), iat, exp. */
  token,
  /** ISO 8601. */
  expires_at: time,
});
export type TokenAnswer = TypeOf<typeof tokenAnswer>;

/** Rule: take a snap of a frame with such a detection. Without `class`, any class matches. */
const snapRule = object({
  name: snapName,
  class: optional(line(1, 200)),
  min_confidence: within(0, 1),
  per_hour: count,
});
export type SnapRule = TypeOf<typeof snapRule>;

/** Config and options are checked by the decoder. */
export const desiredConfig = object({
  application: object({ identifier: word, name: line(0, 200), version: count, hash: line(1, 128) }),
  /** null: the model file says how to decode. */
  config: nullable(anyObject),
  /** Options of `createDetector`. */
  options: v.nullish(anyObject, {}),
  model: nullable(object({ sha256, size: count, name: line(0, 300) })),
  snaps: v.nullish(list(64, snapRule), []),
});
export type DesiredConfig = TypeOf<typeof desiredConfig>;

const configReport = object({ version: etag, state: oneOf(["applied", "failed"]), error: optional(problem) });
export type ConfigReport = TypeOf<typeof configReport>;

const snapFile = object({
  name: word,
  size: count,
  sha256,
  content_type: v.picklist(PICTURE_TYPES, PICTURE_TYPES.join(", ")),
  classification: snapName,
});
export type SnapFile = TypeOf<typeof snapFile>;

const extras = v.pipe(
  anyObject,
  v.check((given) => Object.keys(given).length <= MAX_EXTRAS, `at most ${MAX_EXTRAS} entries`),
  v.check((given) => Object.keys(given).every((key) => key.length <= 40), "names of at most 40 characters"),
  v.record(line(1, 40), line(0, 100)),
);

const cloudEvent = looseObject({
  id: line(1, 500),
  source: line(1, 500),
  type: line(1, 500),
  data: v.nullish(looseObject({ detections: v.optional(v.array(v.unknown(), "a list")) })),
});
const isEmpty = (given: unknown): boolean => isObject(given) && Object.keys(given).length === 0;

const snapRequest = object({
  /** Chosen by the device, so that a snap sent twice is stored once. */
  id: text("1 to 64 letters, digits and . _ : -", /^[\w.:-]{1,64}$/),
  name: snapName,
  tags: v.pipe(
    v.nullish(list(MAX_TAGS, snapName), []),
    v.transform((tags) => [...new Set(tags)]),
  ),
  extras: v.nullish(extras, {}),
  created_at: time,
  application: v.nullish(word),
  /** CloudEvent whose data holds the detections. Empty if no config says how to decode. */
  event: v.lazy((given): Schema<Fields> => (isEmpty(given) ? anyObject : cloudEvent)),
  files: list(MAX_FILES, snapFile, 1),
});
export type SnapRequest = TypeOf<typeof snapRequest>;

/** The last lines of a device's log. The hub redacts and cuts them again. */
const deviceLog = object({
  /** "failed": sent by the device itself, after a version failed or a start ended in an error. */
  reason: oneOf(["requested", "failed"]),
  text: v.pipe(v.string("a text"), v.maxLength(MOST_LOG_BYTES, `at most ${MOST_LOG_BYTES} characters`)),
});
export type DeviceLog = TypeOf<typeof deviceLog>;

const snapAnswer = object({
  snap_id: line(1, 128),
  /** Hashes of files that the hub lacks. */
  missing: list(64, sha256),
});
export type SnapAnswer = TypeOf<typeof snapAnswer>;

const hubDocument = object({
  /** Exactly as tokens name it. */
  issuer: plainAddress,
  /** JSON Web Keys with `kid`. */
  keys: list(32, anyObject),
  /** Tokens of the device are void if their `iat` (seconds since 1970) is below `before`. */
  revoked: list(1_000_000, object({ device_id: word, before: count })),
});
export type HubDocument = TypeOf<typeof hubDocument>;

const reader =
  <S extends v.GenericSchema>(schema: S) =>
  (body: unknown): TypeOf<S> =>
    readJson(schema, body);

export const readEnrolRequest = reader(enrolRequest);
export const readEnrolAnswer = reader(enrolAnswer);
export const readReturnRequest = reader(returnRequest);
export const readReturnChallenge = reader(returnChallenge);
export const readHeartbeat = reader(heartbeat);
export const readHeartbeatAnswer = reader(heartbeatAnswer);
export const readRotateAnswer = reader(rotateAnswer);
export const readTokenAnswer = reader(tokenAnswer);
export const readDesiredConfig = reader(desiredConfig);
export const readReport = reader(configReport);
export const readSnapRequest = reader(snapRequest);
export const readDeviceLog = reader(deviceLog);
export const readSnapAnswer = reader(snapAnswer);
export const readHubDocument = reader(hubDocument);
