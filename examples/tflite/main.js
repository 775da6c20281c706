// Draws boxes on a photo, by a TFLite network with int8 tensors and tfjs-tflite. LiteRT.js takes no int8 tensors.
//
//   npm install boxwright @tensorflow/tfjs-tflite vite
//   mkdir public && cp -r node_modules/@tensorflow/tfjs-tflite/wasm public/tflite
//   cp yolo11n_full_integer_quant.tflite public/model.tflite
//   npx vite
//
// Scales and zero points are read from the file. Its input is written, and its outputs are read, as the bytes they are.
import * as module from "@tensorflow/tfjs-tflite/dist/tf-tflite.fesm.min.js";
import { createDetector, drawCanvas, tflite } from "boxwright";

// An export of Ultralytics states all of it. Other files: { family: "yolov8", labels: ["cat", "dog"] }
const options = { onNote: console.warn };

const [file, status, canvas] = ["file", "status", "canvas"].map((id) => document.getElementById(id));
const context = canvas.getContext("2d");
// What fails is told on the page.
for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, (event) => (status.textContent = event.reason?.message ?? event.message));

module.setWasmPath("/tflite/");
const runtime = tflite(module, { numThreads: 1 });
const detector = await createDetector({ model: "model.tflite", runtime }, options);
status.textContent = "Ready";

file.addEventListener("change", async () => {
  if (file.files.length === 0) return;
  file.disabled = true; // A detector handles one picture at a time.
  try {
    const photo = await createImageBitmap(file.files[0]);
    const detections = await detector.detect(photo);
    canvas.width = photo.width;
    canvas.height = photo.height;
    context.drawImage(photo, 0, 0);
    drawCanvas(context, detections);
    const names = detections.toArray().map(({ label, confidence }) => `${label} ${confidence.toFixed(2)}`);
    status.textContent = `${names.length} found: ${names.join(", ")}`;
  } catch (error) {
    status.textContent = error.message;
  } finally {
    file.disabled = false;
  }
});
