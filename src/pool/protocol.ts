/** Messages between the pool and its threads. */
import { ConfigError, type ConfigProblem, type OptionHint, TensorError } from "../core/errors.ts";
import type { TensorInput } from "../core/tensor.ts";
import type { DecoderOptions } from "../config/types.ts";
import type { TaskColumns } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import { PacketError, type PacketErrorKind } from "../packet/error.ts";

/** A network that a pool decodes: the arguments of `createDecoder`. */
export interface PoolNetwork {
  readonly config: unknown;
  readonly options?: DecoderOptions;
}

/** A frame for a thread: bytes of a packet, or tensors. */
export type Work =
  { readonly bytes: Uint8Array } | { readonly tensors: readonly TensorInput[]; readonly frame?: Frame };

/** First message of a thread, which shows that it runs the right file. */
export const SERVING = "boxwright/pool-worker";

export type Request =
  | { readonly id: number; readonly network: PoolNetwork; readonly index: number }
  /** `index`: the network that decodes frames without a network's name. */
  | { readonly id: number; readonly work: Work; readonly index: number }
  /** Removes a network that another thread refused. Gets no reply. */
  | { readonly forget: number };

/** Columns of detections. `labels` is absent if unchanged since the thread's last answer for the same network. */
export interface ReplyColumns {
  readonly boxes: Float32Array;
  readonly scores: Float32Array;
  readonly classIds: Int32Array;
  readonly sources: Uint32Array;
  readonly labels?: readonly string[] | null;
  /** Columns of keypoints or oriented boxes. */
  readonly task?: TaskColumns;
  /** True if the detections have masks. Masks are not sent. */
  readonly hasMasks?: boolean;
}

export type Reply =
  | { readonly id: number; readonly hash: string | null }
  | {
      readonly id: number;
      readonly columns: ReplyColumns;
      /** Index of the network that decoded. */
      readonly index: number;
      readonly milliseconds: number;
      readonly work: Work;
    }
  | { readonly id: number; readonly fault: Fault };

/** An error as data, since a structured clone loses its class and fields. */
export interface Fault {
  readonly name: string;
  readonly message: string;
  readonly kind?: PacketErrorKind;
  readonly options?: readonly OptionHint[];
  readonly problems?: readonly ConfigProblem[];
}

export function faultOf(error: unknown): Fault {
  const { name, message, kind, options, problems } = error as Partial<Fault>;
  const text = { name: name ?? "Error", message: message ?? String(error) };
  return JSON.parse(JSON.stringify({ ...text, kind, options, problems })) as Fault;
}

/** Returns an error with the class and the fields that `faultOf` stored. */
export function errorOf({ name, message, kind, options, problems }: Fault): Error {
  if (kind !== undefined) return new PacketError(kind, message.replace(`packet is ${kind}: `, ""));
  if (problems !== undefined) return new ConfigError(problems);
  if (name === "TensorError") return new TensorError(message, { options });
  return name === "RangeError" ? new RangeError(message) : new Error(message);
}

/**
 * Returns the buffers of arrays that a message transfers, each once. Shared memory is not transferred.
 * @param arrays views that span their whole buffers
 */
export const transferable = (arrays: readonly { readonly buffer: ArrayBufferLike }[]): ArrayBuffer[] => [
  ...new Set(arrays.map(({ buffer }) => buffer).filter((b): b is ArrayBuffer => b instanceof ArrayBuffer)),
];

/** Returns the typed arrays of a frame. Plain lists of numbers have no memory to transfer. */
export const arraysOf = (work: Work): readonly Uint8Array[] =>
  "bytes" in work
    ? [work.bytes]
    : work.tensors.map((t) => t.data as Uint8Array).filter((data) => ArrayBuffer.isView(data));
