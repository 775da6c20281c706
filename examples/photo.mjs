// Finds the objects in a photo, prints them, and draws them on a copy of it.
//
//   npm install boxwright onnxruntime-node pngjs jpeg-js @resvg/resvg-js dejavu-fonts-ttf
//   node photo.mjs yolo11n.onnx street.jpg boxes.png
//   node photo.mjs yolox_nano.onnx street.jpg boxes.png coco80    (this file holds no class names)
import { readFileSync, writeFileSync } from "node:fs";
import * as ort from "onnxruntime-node";
import { createDetector, onnxRuntime, toPixels } from "boxwright";
import { drawPng, readImage } from "boxwright/node";

const [model, photo, picture, labels] = process.argv.slice(2);
if (picture === undefined) {
  console.error("usage: node photo.mjs MODEL.onnx PHOTO.jpg|PHOTO.png BOXES.png [LABELS]");
  process.exit(2);
}

const bytes = readFileSync(photo);
const image = await readImage(bytes); // upright, as its EXIF says

// A file that does not state its family needs it here: { family: "fastestdet", labels }.
const source = { model: readFileSync(model), runtime: onnxRuntime(ort) };
const detector = await createDetector(source, { ...(labels && { labels }), onNote: console.warn });
const detections = await detector.detect(image);

for (const detection of detections) {
  const { x_min, y_min, x_max, y_max } = toPixels(detection, image.width, image.height);
  const corners = [x_min, y_min, x_max, y_max].map(Math.round).join(" ");
  console.log(`${detection.label} ${detection.confidence.toFixed(2)} at ${corners}`);
}
writeFileSync(picture, await drawPng(bytes, detections));
await detector.close();
