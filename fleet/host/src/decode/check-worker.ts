/** Makes one decoder in a thread, then ends. A config that takes too much memory or time ends only this thread. */
import { parentPort, workerData } from "node:worker_threads";
import { createDecoderSync } from "boxwright";
import type { Network } from "./networks.ts";

const { config, options } = workerData as Network;
try {
  const decoder = createDecoderSync(config as object, options);
  parentPort?.postMessage({ hash: decoder.configHash });
} catch (error) {
  parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
}
