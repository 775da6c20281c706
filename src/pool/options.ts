/** What a caller says about a pool, a network and a frame, and its checks. */
import { availableParallelism } from "node:os";
import type { ResourceLimits } from "node:worker_threads";
import { refuse } from "../core/errors.ts";
import { checkOptions, namesOnly } from "../core/options.ts";
import { show } from "../core/tensor.ts";
import type { Frame } from "../decode/frame.ts";
import type { PoolNetwork } from "./protocol.ts";

/** Settings of a pool. */
export interface PoolOptions {
  /** What the pool decodes. A packet goes to the network that it names, every other frame to the first one. */
  readonly networks: readonly PoolNetwork[];
  /** Count of threads. Default: one less than the machine has processors, at least 1. */
  readonly threads?: number;
  /** Most frames of one stream that wait for a thread. Default 4. */
  readonly queue?: number;
  /**
   * A frame meets a full queue. `"block"` (default, for recorded frames): `decode` refuses it, and `room` says when to
   * go on. `"drop-oldest"` (for live frames): the frame that has waited longest is dropped.
   */
  readonly policy?: "block" | "drop-oldest";
  /** Limits of each thread's JavaScript heap, as those of `Worker`. */
  readonly resourceLimits?: ResourceLimits;
  /** File of the threads, if a bundler has parted it from the pool: `boxwright/pool-worker`. */
  readonly worker?: URL;
}

/** The settings of `PoolOptions`. */
const NAMES = ["networks", "threads", "queue", "policy", "resourceLimits", "worker"] as const;

/** Most threads of a pool. A thread takes 11 MB, and more threads than processors gain nothing. */
const MAX_THREADS = 256;

/** The numbers that a pool runs by. */
export interface PoolSettings {
  readonly threads: number;
  readonly queue: number;
  readonly isLive: boolean;
}

/** Returns the settings, with what holds by default. Throws a RangeError for one that is none. */
export function settingsOf(options: PoolOptions): PoolSettings {
  checkNames("options", options, NAMES);
  const { networks, threads, queue, policy = "block" } = options;
  if (!Array.isArray(networks) || networks.length === 0)
    refuse("networks", show(networks), "a list of {config, options}", RangeError);
  networks.forEach((network, i) => checkNetwork(`networks[${i}]`, network));
  if (!["block", "drop-oldest"].includes(policy))
    refuse("policy", show(policy), '"block" or "drop-oldest"', RangeError);
  const byDefault = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1));
  return {
    threads: whole("threads", threads ?? byDefault, MAX_THREADS),
    queue: whole("queue", queue ?? 4),
    isLive: policy === "drop-oldest",
  };
}

/** Returns the value of a setting. Throws a RangeError unless it is a whole number from 1 to `most`. */
function whole(name: string, value: number, most = Infinity): number {
  if (!(Number.isInteger(value) && value > 0 && value <= most))
    refuse(
      name,
      show(value),
      `a whole number of 1 ${most < Infinity ? `to ${most}` : "or more"}`,
      RangeError,
    );
  return value;
}

/** Throws a RangeError unless the value is an object with the named fields alone. */
const checkNames = (where: string, given: unknown, names: readonly string[]): object =>
  checkOptions(given as object, namesOnly(...names), {
    prefix: `${where}.`,
    name: where,
    form: `{${names.join(", ")}}`,
  });

/** Throws a RangeError unless the value is what a pool can make a decoder of. */
export function checkNetwork(where: string, given: PoolNetwork | null): void {
  checkNames(where, given, ["config", "options"]);
  const { config, options } = given as PoolNetwork;
  if (config === undefined) refuse(where, "no config", "{config, options}", RangeError);
  if (typeof options?.onNote === "function")
    refuse(
      `${where}.options.onNote`,
      "a function, which no thread can take",
      "no onNote. A decoder in this thread calls it: createDecoder(config, { onNote })",
      RangeError,
    );
}

/** Options of one frame. */
interface About {
  readonly frame?: Frame;
  readonly network?: number;
}

/** Returns what the caller says about a frame. Throws a RangeError for unknown names, and for a bare frame. */
export function checkAbout(given: About | null): About {
  if (given === null) return {};
  if ("width" in Object(given) || "height" in Object(given))
    refuse("about", "a bare frame", "{frame}: pool.decode(stream, outputs, { frame })", RangeError);
  checkNames("about", given, ["frame", "network"]);
  return given;
}
