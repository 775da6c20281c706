/** Thread that makes one decoder and ends: a config that costs too much memory or time takes only this thread along. */
import { parentPort, workerData } from "node:worker_threads";
import { createDecoderSync } from "boxwright";
import type { Network } from "./networks.ts";
// Networks for keypoints, masks and oriented boxes are read by these imports.
import "boxwright/masks";
import "boxwright/oriented";
import "boxwright/pose";

const { config, options } = workerData as Network;
try {
  const decoder = createDecoderSync(config as object, options);
  parentPort?.postMessage({ hash: decoder.configHash });
} catch (error) {
  parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
}
