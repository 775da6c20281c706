/** The settings of an agent, as checked. Paths are absolute. */
import type { MqttAddress } from "boxwright-service/mqtt";

export interface Settings {
  /** The device: `source` of each packet. With a hub, the hub gives the source, and this is unused. */
  readonly device: string;
  /** The hub that the device belongs to. Null: the agent works by these settings alone. */
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
  /** Address, without a slash at its end. */
  readonly url: string;
  /** Adopt key that enrols the device. Null: the device has to be enrolled already. */
  readonly adoptKey: string | null;
  /** Name of the device on the hub's page when it enrols. */
  readonly name: string;
  /** Largest total of bytes of snaps that wait for the hub. */
  readonly snapBytes: number;
}

/** Settings for updates of the agent by the hub. */
export interface UpdateSettings {
  /** Public keys that may sign a version: ed25519:... Empty: the device takes none. */
  readonly keys: readonly string[];
  /** Minutes for which a new version must be healthy. */
  readonly healthyMinutes: number;
}

export interface NetworkSettings {
  /** The ONNX file. Null: the hub gives the network. */
  readonly model: string | null;
  /** The config file, which is watched. Null: the model file alone states how to decode, if it does. */
  readonly config: string | null;
  /** Options of `createDetector` that JSON can hold. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Who decodes if the config does not say: the device or the host. */
  readonly outputFormat: "detection" | "raw";
  /** Threads of the runtime. Null: the runtime's choice. */
  readonly threads: number | null;
  /** Execution providers of ONNX Runtime, the preferred one first. Null: the runtime's choice. */
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
  /** Method of ffmpeg that decodes in hardware (`ffmpeg -hwaccels`). Null: the processor decodes. */
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
  /** Width and height in pixels. Null: the device's current setting. */
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
  /** Largest count of packets that are sent and not yet answered. */
  readonly inFlight: number;
}

export interface NatsSettings {
  readonly kind: "nats";
  readonly name: string;
  readonly servers: readonly string[];
  readonly token: string | null;
  /** Count of partitions that the stream must have; null: any. */
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
   * Seconds in which a host must answer that it stored a packet. With 0, the broker's acknowledgement is enough,
   * although a broker may lose acknowledged packets.
   */
  readonly confirmSeconds: number;
  /** Most bytes of a packet. The host has a limit too, and the broker may. */
  readonly maxPacketBytes: number;
}

export type SinkSettings = NdjsonSettings | HttpSettings | NatsSettings | MqttSettings;

export interface SpoolSettings {
  /** Largest total of packet bytes on disk. */
  readonly maxBytes: number;
  /** What happens at `maxBytes`: the oldest packets are dropped, or new ones wait. */
  readonly policy: "drop-oldest" | "block";
  /** When bytes are flushed to the disk. Only a power cut can lose unflushed packets; a killed process loses none. */
  readonly fsync: "each" | "second" | "never";
  /** Largest total of bytes of packets that a receiver refused permanently. */
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
