// The worker of main.js: receives pictures, answers with their detections.
import * as ort from "onnxruntime-web/wasm";
// The address of the runtime's own file, as Vite serves it. The page fetches nothing from elsewhere.
import wasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import { createDetector, onnxRuntime } from "boxwright";

// An export of Ultralytics states all of it. Other files: { family: "fastestdet", labels: "coco80" }
const options = { onNote: console.warn };

ort.env.wasm.wasmPaths = { wasm };
const model = new URL("model.onnx", self.name); // main.js names the worker after its own address
const opening = createDetector({ model, runtime: onnxRuntime(ort) }, options);
opening.then(
  () => self.postMessage({ ready: true }),
  (error) => self.postMessage({ error: error.message }),
);

self.onmessage = async ({ data: picture }) => {
  try {
    const detector = await opening;
    const detections = await detector.detect(picture);
    // The message is a copy: the next result overwrites this one.
    self.postMessage({ detections, milliseconds: detector.timings.run });
  } catch (error) {
    self.postMessage({ error: error.message });
  } finally {
    picture.close();
  }
};
