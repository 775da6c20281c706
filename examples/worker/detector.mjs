// The worker of main.mjs: receives images, answers with their detections.
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import * as ort from "onnxruntime-node";
import { createDetector, onnxRuntime } from "boxwright";

const network = { model: readFileSync(workerData.model), runtime: onnxRuntime(ort) };
const detector = await createDetector(network, { onNote: console.warn });

// A result is overwritten by the next one. toArray() makes plain objects, which can be posted.
parentPort.on("message", async (image) => {
  if (image === null) {
    await detector.close();
    parentPort.close();
  } else parentPort.postMessage((await detector.detect(image)).toArray());
});
