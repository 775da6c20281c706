/**
 * Messages between hub, agent and host: a schema and a type for each body. Field names are the names in the JSON. For
 * an invalid body, `readJson` throws a ProtocolError that names the field, the received value and the expected one.
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
/** Number of pictures of a recorded source that an agent sends and a host keeps: the last ones. */
export const KEPT_PICTURES = 8;
/** The public document of a hub, from which a host learns keys and revoked devices. */
export const HUB_DOCUMENT_PATH = "/.well-known/boxwright-hub.json";
/** CloudEvents source of a device. The source of each of its packets is this text, or starts with it and a slash. */
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
  /** Number that stays the same when the agent is reinstalled. A repeated enrolment sends the same number. */
  serial_number: optional(word),
  /** Public key with which the device proves its identity after its hub was restored. */
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
  /** Signature of the challenge in the last answer. Absent if the device asks for a challenge. */
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
  /** Number that grows with each heartbeat, even after restarts. A smaller number shows a copied credential. */
  counter: count,
  /** Random text, new at each start of the agent. */
  process_id: text("1 to 64 letters, digits, _ or -", /^[\w-]{1,64}$/),
  version,
  model: word,
  architecture: version,
  /** Time by the device's clock, in ISO 8601. */
  time,
  application: applicationState,
  /**
   * Numbers of frames since the agent started. `dropped`: frames that came too fast. `lost`: frames that failed or were
   * never delivered.
   */
  frames: count,
  dropped: count,
  lost: count,
  decode_ms: object({ p50: milliseconds, p99: milliseconds }),
  /** Bytes and frames that wait for a receiver, and the largest allowed number of bytes. */
  spool: object({ bytes: count, limit: count, frames: count }),
  last_error: v.nullish(line(0, 1000)),
  network_interfaces: optional(list(16, networkInterface)),
  /** Address of the host's page about this device. */
  host_url: v.nullish(webAddress),
  /** True if the hub paused the device, which then processes no frames. Absent from agents older than this field. */
  paused: optional(flag),
  /**
   * Report of a shadow (schema/shadow.ts). The hub parses this field separately, so that an invalid one does not
   * invalidate the heartbeat.
   */
  shadow: v.optional(v.unknown()),
});
export type Heartbeat = TypeOf<typeof heartbeat>;

const heartbeatAnswer = object({
  /** Time by the hub's clock, in ISO 8601. */
  time,
  interval_seconds: count,
  /** ETag of the config that the device should run, without quotes; null if there is none. */
  desired_version: nullable(etag),
  /** True: the device should request a new credential. */
  rotate: flag,
  /** True: a user requested a snap of the next frame. */
  snap_requested: flag,
  /** True: a user requested the last lines of the log. Absent from hubs older than this field. */
  log_requested: v.nullish(flag, false),
  /** True: the device must process no frames until an answer says false. Absent from hubs older than this field. */
  paused: v.nullish(flag, false),
  /** ETag of the agent release to run, without quotes; null or absent for the present one. */
  desired_agent: v.nullish(etag),
  /** Text that changes with the answer of GET /device/shadow; null or absent if the device has nothing to compare. */
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

/** Rule for snaps: a frame with such a detection is sent to the hub. Without `class`, any class matches. */
const snapRule = object({
  name: snapName,
  class: optional(line(1, 200)),
  min_confidence: within(0, 1),
  per_hour: count,
});
export type SnapRule = TypeOf<typeof snapRule>;

/** Config that a device should run. The decoder checks config and options, not this schema. */
export const desiredConfig = object({
  application: object({ identifier: word, name: line(0, 200), version: count, hash: line(1, 128) }),
  /** The config; null if the model file itself states how to decode its outputs. */
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
  /** Id that the device chooses, so that a snap that is sent twice is stored once. */
  id: text("1 to 64 letters, digits and . _ : -", /^[\w.:-]{1,64}$/),
  name: snapName,
  tags: v.pipe(
    v.nullish(list(MAX_TAGS, snapName), []),
    v.transform((tags) => [...new Set(tags)]),
  ),
  extras: v.nullish(extras, {}),
  created_at: time,
  application: v.nullish(word),
  /** CloudEvent with the detections as data. Empty if no config states how to decode. */
  event: v.lazy((given): Schema<Fields> => (isEmpty(given) ? anyObject : cloudEvent)),
  files: list(MAX_FILES, snapFile, 1),
});
export type SnapRequest = TypeOf<typeof snapRequest>;

/** The last lines of a device's log. The hub removes secrets and shortens the lines again. */
const deviceLog = object({
  /** "failed": the device sent the log without a request, after a version failed or the agent ended with an error. */
  reason: oneOf(["requested", "failed"]),
  text: v.pipe(v.string("a text"), v.maxLength(MOST_LOG_BYTES, `at most ${MOST_LOG_BYTES} characters`)),
});
export type DeviceLog = TypeOf<typeof deviceLog>;

const snapAnswer = object({
  snap_id: line(1, 128),
  /** SHA-256 of the files that the hub does not have. */
  missing: list(64, sha256),
});
export type SnapAnswer = TypeOf<typeof snapAnswer>;

const hubDocument = object({
  /** Issuer, exactly as in the tokens. */
  issuer: plainAddress,
  /** JSON Web Keys with `kid`. */
  keys: list(32, anyObject),
  /** Revoked devices. A token of such a device is void if its `iat` (seconds since 1970) is below `before`. */
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
