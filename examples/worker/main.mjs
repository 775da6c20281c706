// Finds objects in photos without blocking the main thread.
//
//   npm install boxwright onnxruntime-node pngjs
//   node main.mjs yolo11n.onnx a.png b.png
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { PNG } from "pngjs";

const [model, ...photos] = process.argv.slice(2);
if (photos.length === 0) {
  console.error("usage: node main.mjs MODEL.onnx PHOTO.png...");
  process.exit(2);
}

const worker = new Worker(new URL("detector.mjs", import.meta.url), { workerData: { model } });
for (const photo of photos) {
  const { data, width, height } = PNG.sync.read(readFileSync(photo));
  const pixels = new Uint8Array(data); // a buffer of its own, so that it can be moved instead of copied
  worker.postMessage({ data: pixels, width, height }, [pixels.buffer]);
  const [detections] = await once(worker, "message");
  for (const { label, confidence } of detections) console.log(`${photo}: ${label} ${confidence.toFixed(2)}`);
}
worker.postMessage(null);
