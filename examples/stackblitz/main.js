// Decodes an output tensor and draws its boxes. A slider changes the threshold. No network is needed.
//
//   npm install
//   npm start
import { COCO80, createDecoder, drawCanvas } from "boxwright";

const [slider, status, canvas] = ["threshold", "status", "canvas"].map((id) => document.getElementById(id));
const context = canvas.getContext("2d");

// [1,84,8400], as YOLOv8 gives it: centre, size and 80 scores of each cell. Put your network's output here.
const data = new Float32Array(84 * 8400);
const cells = [
  { cell: 100, box: [200, 320, 180, 420], classId: 0, score: 0.92 },
  { cell: 101, box: [206, 324, 184, 410], classId: 0, score: 0.71 }, // overlaps the first: suppressed
  { cell: 500, box: [460, 430, 220, 160], classId: 16, score: 0.64 },
  { cell: 900, box: [520, 120, 90, 90], classId: 32, score: 0.31 },
];
for (const { cell, box, classId, score } of cells) {
  box.forEach((value, channel) => (data[channel * 8400 + cell] = value));
  data[(4 + classId) * 8400 + cell] = score;
}
const outputs = { output0: { data, dims: [1, 84, 8400] } };

const network = { family: "yolov8", labels: COCO80, inputSize: [640, 640] };
const decoder = await createDecoder(network, { onNote: console.warn });

function show() {
  decoder.update({ confidenceThreshold: Number(slider.value) });
  const detections = decoder.decode(outputs);
  context.fillStyle = "#3a3e44";
  context.fillRect(0, 0, canvas.width, canvas.height);
  drawCanvas(context, detections);
  status.textContent = `${detections.length} found`;
}

slider.addEventListener("input", show);
show();
