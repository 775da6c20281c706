#!/usr/bin/env node
/**
 * `npx boxwright-demo [PHOTO] [--out PICTURE.png]`: finds the objects in a photo and draws them. Without a photo it
 * takes its own. The network, YOLOX nano, knows the 80 classes of COCO.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import * as ort from "onnxruntime-web";
import { createDetector, onnxRuntime, toPixels } from "boxwright";
import { drawPng, readImage } from "boxwright/node";

const USAGE = `usage: boxwright-demo [PHOTO.jpg|PHOTO.png] [--out PICTURE.png]

Finds the objects in a photo by YOLOX nano, prints them, and draws them on a copy of the photo: boxes.png.
Without a photo it takes the one that it brings. Nothing is fetched, and nothing is sent.`;

/** A mistake of the user: shown without its stack. */
class UsageError extends Error {}

/** Returns the photo and the picture's path that the command line names. */
function readArguments() {
  const options = { out: { type: "string", default: "boxes.png" }, help: { type: "boolean", short: "h" } };
  let parsed;
  try {
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (e) {
    throw new UsageError(`${e.message}\n\n${USAGE}`);
  }
  const { values, positionals } = parsed;
  if (positionals.length > 1) throw new UsageError(`got ${positionals.length} photos, expected one or none`);
  return { ...values, photo: positionals[0] ?? new URL("network/coffee.jpg", import.meta.url) };
}

function readPhoto(path) {
  try {
    return readFileSync(path);
  } catch (e) {
    throw new UsageError(`${path}: got no photo (${e.code}), expected the path of a JPEG or PNG`);
  }
}

async function main() {
  const { photo, out, help } = readArguments();
  if (help) return console.log(USAGE);
  const bytes = readPhoto(photo);
  const image = await readImage(bytes); // upright, as its EXIF says

  // One thread: a small network is done before the others have started.
  ort.env.wasm.numThreads = 1;
  const model = readFileSync(new URL("network/yolox_nano.onnx", import.meta.url));
  const detector = await createDetector({ model, runtime: onnxRuntime(ort) }, { labels: "coco80" });
  const start = performance.now();
  const detections = await detector.detect(image);
  const milliseconds = Math.round(performance.now() - start);
  await detector.close();

  for (const detection of detections) {
    const { x_min, y_min, x_max, y_max } = toPixels(detection, image.width, image.height);
    const corners = [x_min, y_min, x_max, y_max].map(Math.round).join(" ");
    console.log(`${detection.label} ${detection.confidence.toFixed(2)} at ${corners}`);
  }
  if (detections.length === 0) console.log("nothing of the 80 classes of COCO was found");
  writeFileSync(out, await drawPng(bytes, detections));
  console.log(`\n${resolve(out)}: photo to boxes in ${milliseconds} ms.`);
  if (photo instanceof URL) console.log("Your own photo: npx boxwright-demo photo.jpg");
}

main().catch((e) => {
  // Errors of boxwright say what to do; their stack would hide it.
  console.error(`boxwright-demo: ${e.message}`);
  process.exitCode = 1;
});
