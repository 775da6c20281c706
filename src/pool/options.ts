/** Options of a pool and of one frame, with their checks. */
import type { ResourceLimits } from "node:worker_threads";
import { refuseValue } from "../core/errors.ts";
import {
  ANY,
  COUNT,
  type OptionRules,
  POSITIVE,
  type Rule,
  checkOptions,
  checkValue,
  namesOnly,
  oneOf,
} from "../core/options.ts";
import { show } from "../core/tensor.ts";
import type { Frame } from "../decode/frame.ts";
import type { PoolNetwork } from "./protocol.ts";

/** Options of a pool. */
export interface PoolOptions {
  /** The networks of the pool. A packet goes to the network that it names, every other frame to the first network. */
  readonly networks: readonly PoolNetwork[];
  /** Count of threads. Default: one less than the count of processors, at least 1. */
  readonly threads?: number;
  /** Largest count of waiting frames per stream. Default 4. */
  readonly queue?: number;
  /**
   * Handling of a new frame if the queue of its stream is full. `"block"` (default, for recorded frames): `decode`
   * refuses the new frame, and `room` resolves when there is room again. `"drop-oldest"` (for live frames): the oldest
   * waiting frame is dropped.
   */
  readonly policy?: "block" | "drop-oldest";
  /** Limits of each thread's JavaScript heap and stack, as for `Worker`. */
  readonly resourceLimits?: ResourceLimits;
  /**
   * File that the threads run, `boxwright/pool-worker`. Needed if a bundler moved the file. The pool refuses a file
   * that ends, that sends another first message, or that sends none for 30 seconds.
   */
  readonly worker?: URL;
}

/** Options of one frame. */
interface About {
  readonly frame?: Frame;
  readonly network?: number;
}

/** Largest count of threads. A thread takes 11 MB, and more threads than processors gain nothing. */
export const MAX_THREADS = 256;

const THREADS: Rule = [
  `a whole number of 1 to ${MAX_THREADS}`,
  (x) => COUNT[1](x) && (x as number) <= MAX_THREADS,
];
const NETWORKS: Rule = ["a list of {config, options}", (x) => Array.isArray(x) && x.length > 0];
const LIMITS: OptionRules = {
  maxOldGenerationSizeMb: POSITIVE,
  maxYoungGenerationSizeMb: POSITIVE,
  codeRangeSizeMb: POSITIVE,
  stackSizeMb: POSITIVE,
};
const RULES: OptionRules = {
  networks: NETWORKS,
  threads: THREADS,
  queue: COUNT,
  policy: oneOf(["block", "drop-oldest"]),
  resourceLimits: ANY,
  worker: [
    'the URL of a file: new URL("./pool-worker.mjs", import.meta.url)',
    (x) => ["file:", "data:"].includes((x as Partial<URL>).protocol ?? ""),
  ],
};

/** Returns the options without null values. Throws a RangeError for a wrong option. */
export function checkPool(given: PoolOptions): PoolOptions {
  const options = checkOptions(given, RULES, { more: ": options of a decoder go into networks[i].options" });
  const { networks, resourceLimits } = options;
  checkValue("networks", networks, NETWORKS);
  networks.forEach((network, i) => checkNetwork(`networks[${i}]`, network));
  if (resourceLimits !== undefined)
    checkOptions(resourceLimits, LIMITS, { prefix: "resourceLimits.", name: "resourceLimits" });
  return options;
}

/** Throws a RangeError unless the value has the form of a network: `{config, options}`, without `onNote`. */
export function checkNetwork(where: string, given: PoolNetwork | null): void {
  checkNames(where, given, ["config", "options"], `: options of the decoder go into ${where}.options`);
  const { config, options } = given as PoolNetwork;
  if (config === undefined) refuseValue(where, "no config", "{config, options}");
  if (typeof options?.onNote === "function")
    refuseValue(
      `${where}.options.onNote`,
      "a function, which no thread can take",
      "no onNote. A decoder in this thread calls it: createDecoder(config, { onNote })",
    );
}

/** Throws a RangeError unless a stream has a name. */
export function checkStream(name: string): void {
  if (typeof name !== "string") refuseValue("stream", show(name), 'a name such as "front door"');
}

/** Returns the options of one frame. Throws for unknown names, and for a `Frame` that is not inside `{frame}`. */
export function checkAbout(given: About | null): About {
  if (given === null) return {};
  if ("width" in Object(given) || "height" in Object(given))
    refuseValue("about", "a bare frame", "{frame}: pool.decode(stream, outputs, { frame })");
  checkNames("about", given, ["frame", "network"]);
  if (Array.isArray(given.frame))
    refuseValue("about.frame", "a list", "one frame: each image has a call of pool.decode");
  return given;
}

/** Throws a RangeError unless the value is an object without other fields than `names`. */
function checkNames(where: string, given: unknown, names: readonly string[], more = ""): void {
  checkOptions(given as object, namesOnly(...names), {
    prefix: `${where}.`,
    more,
    name: where,
    form: `{${names.join(", ")}}`,
  });
}
