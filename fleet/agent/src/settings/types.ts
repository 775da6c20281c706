/** The checked settings of an agent. All paths are absolute. */
import type { MqttAddress } from "boxwright-service/mqtt";

export interface Settings {
  /** Name of the device, used as `source` of each packet. Unused with a hub, which assigns the source. */
  readonly device: string;
  /** The hub that the device belongs to; null if the agent works without a hub. */
  readonly hub: HubSettings | null;
  readonly update: UpdateSettings;
  /** Folder of the spool, the refused packets, and all state that outlives a restart. */
  readonly state: string;
  readonly network: NetworkSettings;
  readonly sources: readonly SourceSettings[];
  readonly sinks: readonly SinkSettings[];
  readonly spool: SpoolSettings;
  readonly preview: PreviewSettings | null;
  readonly health: HealthSettings | null;
  readonly log: LogLevel;
}

export interface HubSettings {
  /** Address without a slash at the end. */
  readonly url: string;
  /** Adopt key for enrolment; null if the device must be enrolled already. */
  readonly adoptKey: string | null;
  /** Name for the device on the hub's page, set at enrolment. */
  readonly name: string;
  /** Largest number of bytes of all snaps that wait for the hub. */
  readonly snapBytes: number;
}

/** Settings for updates of the agent by the hub. */
export interface UpdateSettings {
  /** Public keys that may sign a version: ed25519:... If empty, the device accepts no updates. */
  readonly keys: readonly string[];
  /** Minutes for which a new version must stay healthy. */
  readonly healthyMinutes: number;
}

export interface NetworkSettings {
  /** The ONNX file; null if the hub assigns the network. */
  readonly model: string | null;
  /** The config file, which is watched for changes. Null if the model file itself may state how to decode. */
  readonly config: string | null;
  /** Options of `createDetector` that JSON can hold. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The part that decodes if the config does not say: the device or the host. */
  readonly outputFormat: "detection" | "raw";
  /** Number of threads of the runtime; null for the runtime's default. */
  readonly threads: number | null;
  /** Execution providers of ONNX Runtime, the preferred one first; null for the runtime's default. */
  readonly providers: readonly string[] | null;
}

interface CameraSettings {
  /** Name of the camera: `subject` of each packet. */
  readonly camera: string;
}

export interface FolderSettings extends CameraSettings {
  readonly kind: "folder";
  readonly path: string;
  /** True: waits for new photos. False: ends after the last one. */
  readonly watch: boolean;
}

export interface ImageSettings extends CameraSettings {
  readonly kind: "image";
  readonly path: string;
}

/** A source that ffmpeg reads. */
interface DecodedSettings extends CameraSettings {
  readonly fps: number | null;
  /** Hardware decoding method of ffmpeg (`ffmpeg -hwaccels`); null to decode on the CPU. */
  readonly hwaccel: string | null;
}

export interface VideoSettings extends DecodedSettings {
  readonly kind: "video";
  readonly path: string;
}

export interface RtspSettings extends DecodedSettings {
  readonly kind: "rtsp";
  readonly url: string;
}

export interface V4l2Settings extends DecodedSettings {
  readonly kind: "v4l2";
  readonly path: string;
  /** Width and height in pixels; null for the device's present setting. */
  readonly size: readonly [number, number] | null;
}

export type SourceSettings = FolderSettings | ImageSettings | VideoSettings | RtspSettings | V4l2Settings;

export interface NdjsonSettings {
  readonly kind: "ndjson";
  readonly name: string;
  readonly path: string;
}

export interface HttpSettings {
  readonly kind: "http";
  readonly name: string;
  readonly url: string;
  readonly token: string | null;
  /** Largest number of packets that are sent and not yet answered. */
  readonly inFlight: number;
}

export interface NatsSettings {
  readonly kind: "nats";
  readonly name: string;
  readonly servers: readonly string[];
  readonly token: string | null;
  /** Number of partitions that the stream must have; null for any. */
  readonly partitions: number | null;
  readonly inFlight: number;
}

export interface MqttSettings {
  readonly kind: "mqtt";
  readonly name: string;
  readonly address: MqttAddress;
  /** First level of the topics of packets, configs, answers and previews. */
  readonly topic: string;
  readonly inFlight: number;
  /**
   * Seconds within which a host must answer that it has stored a packet. With 0, the broker's acknowledgement is
   * enough, although a broker may lose acknowledged packets.
   */
  readonly confirmSeconds: number;
  /** Largest number of bytes of a packet. The host also has a limit, and the broker may have one. */
  readonly maxPacketBytes: number;
}

export type SinkSettings = NdjsonSettings | HttpSettings | NatsSettings | MqttSettings;

export interface SpoolSettings {
  /** Largest number of bytes of all packets on disk. */
  readonly maxBytes: number;
  /** Rule at `maxBytes`: the oldest packets are dropped, or new ones wait. */
  readonly policy: "drop-oldest" | "block";
  /** When bytes are flushed to the disk. Only a power cut can lose unflushed packets; a killed process loses none. */
  readonly fsync: "each" | "second" | "never";
  /** Largest number of bytes of all packets that a receiver refused permanently. */
  readonly refusedBytes: number;
}

export interface PreviewSettings {
  /** Seconds between two pictures of a camera. */
  readonly every: number;
  /** Width in pixels. */
  readonly width: number;
}

export interface HealthSettings {
  readonly host: string;
  readonly port: number;
}

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
