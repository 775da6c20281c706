// A detector for Frigate, with any network that boxwright decodes. Frigate calls it by its plug-in "zmq".
//
//   npm install boxwright onnxruntime-node zeromq
//   node detector.mjs tcp://127.0.0.1:5555                          (Frigate sends the model)
//   node detector.mjs tcp://127.0.0.1:5555 yolo11n.onnx
//   node detector.mjs ipc:///tmp/cache/zmq_detector FastestDet.onnx '{"family":"fastestdet","labels":"coco80"}'
//
// README.md has Frigate's side. Whoever reaches the address can load a model: keep it to this machine.
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-node";
import { Reply } from "zeromq";
import { createDetector, onnxRuntime } from "boxwright";
import { createAnswerer } from "./protocol.mjs";

const MAX_BYTES = 512e6; // of a model
const [endpoint, model, options = "{}"] = process.argv.slice(2);
if (endpoint === undefined) {
  console.error("usage: node detector.mjs ENDPOINT [MODEL.onnx [OPTIONS]]");
  process.exit(2);
}

const open = (bytes) =>
  createDetector(
    { model: new Uint8Array(bytes), runtime: onnxRuntime(ort) },
    { ...JSON.parse(options), onNote: console.warn },
  );

// Frigate may send the same bad request many times a second.
const said = new Set();
function log(message) {
  if (said.has(message) || said.size >= 100) return;
  said.add(message);
  console.error(message);
}

const detector = model === undefined ? null : await open(readFileSync(model));
const answer = createAnswerer({ open, detector, log });
const socket = new Reply({ maxMessageSize: MAX_BYTES, linger: 0 });
await socket.bind(endpoint);
console.log(socket.lastEndpoint);
for await (const frames of socket) await socket.send(await answer(frames));
