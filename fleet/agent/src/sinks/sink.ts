/** The interface of sinks. A sink sends packets to one receiver. */
import type { ConfigRecord } from "../network/plan.ts";

/** Outcome of sending a packet. */
export type Outcome =
  /** The receiver has stored the packet. */
  | { readonly kind: "stored"; readonly isDuplicate?: boolean }
  /** The receiver will never accept the packet. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The receiver does not answer, is busy or full. The packet stays in the spool. */
  | {
      readonly kind: "later";
      readonly reason: string;
      readonly milliseconds?: number;
      /**
       * True if only an operator can help, because the settings do not fit the receiver, or the receiver's disk is
       * full.
       */
      readonly needsOperator?: boolean;
    };

export type Headers = Readonly<Record<string, string>>;

/** A preview picture for the live page. */
export interface Preview {
  readonly jpeg: Uint8Array;
  readonly source: string;
  readonly subject: string;
  readonly id: string;
  readonly time: string;
  /** True if the frame comes from a photo or a video file. A page then shows several last pictures, but no latency. */
  readonly isRecorded: boolean;
}

export interface Sink {
  readonly name: string;
  /** Largest number of packets that are sent and not yet answered. */
  readonly inFlight: number;
  /**
   * Sends one packet. Never rejects: an error becomes an outcome.
   * @param more headers in addition to those of the packet; ignored by a sink that writes a file
   */
  send(packet: Uint8Array, signal: AbortSignal, more?: Headers): Promise<Outcome>;
  /** Sends a preview picture, without retries. Missing in sinks whose receiver accepts no pictures. */
  preview?(preview: Preview): Promise<void>;
  close(): Promise<void>;
}

/** The token for requests to a host. */
export interface Bearer {
  /** Returns the token; null if there is none. */
  token(): string | null;
  /** Called after a host has refused the token. */
  denied(): void;
}

/** Returns a fixed token from the settings. */
export const fixedBearer = (token: string | null): Bearer => ({ token: () => token, denied: () => undefined });

/** Function that finds a config by its hash. */
export type FindConfig = (hash: string) => ConfigRecord | null;

/** Returns a preview's CloudEvents attributes as headers, escaped as in the HTTP binding. */
export function previewHeaders({ source, subject, id, time, isRecorded }: Preview): Record<string, string> {
  const about = { source, subject, id, time, ...(isRecorded && { recorded: "true" }) };
  const attributes = { specversion: "1.0", type: "boxwright.preview.v1", ...about };
  const headers: Record<string, string> = { "content-type": "image/jpeg" };
  for (const [name, value] of Object.entries(attributes))
    headers[`ce-${name}`] = value.replace(/[^!#$&-~]+/gu, encodeURIComponent);
  return headers;
}
