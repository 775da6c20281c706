// Draws boxes on a photo or on the webcam's picture.
//
//   npm install boxwright onnxruntime-web vite
//   cp yolo11n.onnx public/model.onnx
//   npx vite
import * as ort from "onnxruntime-web/wasm";
// The address of the runtime's own file, as Vite serves it. The page fetches nothing from elsewhere.
import wasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import { createDetector, drawCanvas, onnxRuntime } from "boxwright";

// An export of Ultralytics states all of it. Other files: { family: "fastestdet", labels: "coco80" }
const options = { onNote: console.warn };

const [file, webcam, status, canvas] = ["file", "webcam", "status", "canvas"].map((id) =>
  document.getElementById(id),
);
const context = canvas.getContext("2d");
// What fails is told on the page.
for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, (event) => (status.textContent = event.reason?.message ?? event.message));

ort.env.wasm.wasmPaths = { wasm };
const detector = await createDetector({ model: "model.onnx", runtime: onnxRuntime(ort) }, options);
status.textContent = "Ready";

async function draw(picture, width, height) {
  const detections = await detector.detect(picture);
  canvas.width = width;
  canvas.height = height;
  context.drawImage(picture, 0, 0);
  drawCanvas(context, detections);
  status.textContent = `${detections.length} found in ${detector.timings.run.toFixed(0)} ms`;
}

// A detector handles one picture at a time, so that pictures wait for each other.
let last = Promise.resolve();
function show(picture, width, height) {
  last = last.then(() => draw(picture, width, height));
  last = last.catch((error) => (status.textContent = error.message));
  return last;
}

// The photo or video that is on the canvas. Another one ends a video.
let shown = null;

file.addEventListener("change", async () => {
  if (file.files.length === 0) return;
  shown = await createImageBitmap(file.files[0]);
  await show(shown, shown.width, shown.height);
});

webcam.addEventListener("click", async () => {
  const video = document.createElement("video");
  const stream = await navigator.mediaDevices.getUserMedia({ video: true });
  video.srcObject = stream;
  await video.play();
  shown = video;
  while (shown === video) {
    await show(video, video.videoWidth, video.videoHeight);
    await new Promise(requestAnimationFrame);
  }
  for (const track of stream.getTracks()) track.stop();
});
