/** Reads configs that agents send, and checks new ones in a thread. */
import { Worker } from "node:worker_threads";
import type { DecoderOptions } from "boxwright";
import { builtFile } from "boxwright-service/built";
import { messageOf } from "boxwright-service/errors";
import { Refusal } from "../core/errors.ts";

/** A network that the pool decodes. */
export interface Network {
  readonly config: unknown;
  readonly options: DecoderOptions;
}

/** Largest number of megabytes and of milliseconds for making a decoder. */
const MOST_MB = 256;
const MOST_MS = 20_000;

export const isHash = (text: string): boolean => /^[\da-f]{16}$/.test(text);

/**
 * Parses a network from the JSON `{config, options?, outputs?}`.
 * @throws Refusal if the text is not such JSON
 */
export function readNetwork(body: string): Network {
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch (error) {
    throw new Refusal("config", `got text that is not JSON (${messageOf(error)}), expected {config, options, outputs}`);
  }
  const { config, options, outputs } = (given ?? {}) as Record<string, unknown>;
  if (!isRecord(config))
    throw new Refusal("config", "config: got none, expected an object: {config, options, outputs}");
  if (options !== undefined && options !== null && !isRecord(options))
    throw new Refusal("config", "options: got no object, expected the options of createDecoder");
  // Drop the options that do not change detections: the host decides how its decoders run.
  const kept = Object.entries(options ?? {}).filter(([name]) => !["engine", "fresh", "onNote"].includes(name));
  return {
    config,
    options: { ...Object.fromEntries(kept), ...(outputs == null ? {} : { outputs }) } as DecoderOptions,
  };
}

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Makes a decoder in a separate thread and returns the hash of its config; null if nothing states how to decode.
 * @throws Refusal if no decoder can be made
 */
export function checkNetwork(network: Network): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(builtFile(import.meta.url, "check-worker.js"), {
      workerData: network,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
    });
    const refuse = (why: string): void => {
      clearTimeout(limit);
      reject(new Refusal("config", `the config makes no decoder: ${why}`));
    };
    const limit = setTimeout(() => {
      refuse(`no answer after ${MOST_MS / 1000} s`);
      void worker.terminate();
    }, MOST_MS);
    worker.once("message", ({ hash, error }: { hash?: string | null; error?: string }) => {
      if (error !== undefined) return refuse(error);
      clearTimeout(limit);
      resolve(hash ?? null);
    });
    worker.once("error", (error) => refuse(messageOf(error)));
    worker.once("exit", () => refuse("the thread ended"));
  });
}
