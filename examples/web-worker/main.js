// Draws boxes on a photo or on the webcam's picture. The network runs in a worker, so that the page stays fluent.
//
//   npm install boxwright onnxruntime-web vite
//   cp yolo11n.onnx public/model.onnx
//   npx vite
import { drawCanvas } from "boxwright";

const [file, webcam, status, canvas] = ["file", "webcam", "status", "canvas"].map((id) =>
  document.getElementById(id),
);
const context = canvas.getContext("2d");
// What fails is told on the page.
for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, (event) => (status.textContent = event.reason?.message ?? event.message));

const worker = new Worker(new URL("detector.js", import.meta.url), { type: "module", name: location.href });

/** Waits for the next message of the worker, which answers pictures in their order. */
const answer = () =>
  new Promise((resolve, reject) => {
    const take = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data));
    worker.addEventListener("message", take, { once: true });
  });

async function draw(picture) {
  const shown = await createImageBitmap(picture);
  const sent = await createImageBitmap(shown); // the worker takes it away
  worker.postMessage(sent, [sent]);
  const { detections, milliseconds } = await answer();
  [canvas.width, canvas.height] = [shown.width, shown.height];
  context.drawImage(shown, 0, 0);
  drawCanvas(context, detections); // a result that crossed a worker has no methods, and is drawn all the same
  shown.close();
  status.textContent = `${detections.length} found in ${milliseconds.toFixed(0)} ms`;
}

// One picture at a time, so that pictures wait for each other.
let last = answer().then(() => (status.textContent = "Ready"));
function show(picture) {
  last = last.then(() => draw(picture)).catch((error) => (status.textContent = error.message));
  return last;
}

// The photo or video that is on the canvas. Another one ends a video.
let current = null;

file.addEventListener("change", async () => {
  if (file.files.length === 0) return;
  current = file.files[0];
  await show(current);
});

webcam.addEventListener("click", async () => {
  const video = document.createElement("video");
  const stream = await navigator.mediaDevices.getUserMedia({ video: true });
  video.srcObject = stream;
  await video.play();
  current = video;
  while (current === video) {
    await show(video);
    await new Promise(requestAnimationFrame);
  }
  for (const track of stream.getTracks()) track.stop();
});
