/** Runs a network on photos: prepares each photo, runs ONNX Runtime, and decodes boxes. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createDetector, drawSvg, onnxRuntime } from "../../dist/index.mjs";
import { imageInfo } from "../../dist/node.mjs";
import { compareDetections } from "./check.mjs";
import { runEngines } from "./engines.mjs";
import { readJson } from "./fixtures.mjs";
import { boxRow, BOX_HEAD, time } from "./table.mjs";

const PHOTOS = ["dogs.jpg", "hopper.jpg"];

/**
 * Largest difference to OpenCV's answers. OpenCV decodes JPEG and resizes with other rounding, and its own engine runs
 * the network.
 */
const TOLERANCE = 0.01;

/** A run of the network takes milliseconds, so limit the rounds. */
const roundsOf = (rounds) => Math.min(rounds, 20);

async function makeShot(photo, { fixtures, rounds }) {
  const ort = await import("onnxruntime-node");
  const { default: jpeg } = await import("jpeg-js");
  const stem = photo.replace(/\..*$/, "");
  const recorded = readJson(fixtures, "models", `yolox_nano.${stem}.json`);
  const bytes = await readFile(join(fixtures, "photos", photo));
  const { width, height } = imageInfo(bytes, photo);
  const image = jpeg.decode(bytes, { useTArray: true });
  const model = await readFile(join(fixtures, "models", "yolox_nano.onnx"));
  let plan = "";
  let stages;
  const { runs, answer, same } = await runEngines(roundsOf(rounds), async (engine) => {
    const detector = await createDetector({ model, runtime: onnxRuntime(ort) }, { labels: "coco80", engine });
    plan = detector.decoder.describe().text;
    const found = (await detector.detect(image)).toArray();
    stages ??= detector.timings;
    return { engine, run: () => detector.detect(image), answer: () => found, end: () => detector.close() };
  });
  const title = `YOLOX nano runs on ${photo}`;
  const { prepare, run, decode } = stages;
  const parts = Object.entries({ preparation: prepare, network: run, decoding: decode });
  return {
    file: `live.${stem}`,
    title,
    network: "YOLOX nano",
    plan,
    svg: drawSvg(bytes, answer, { title }),
    head: BOX_HEAD,
    rows: answer.map((d) => boxRow(d, width, height)),
    runs,
    same,
    by: `${recorded.by} on the same photo, within ${TOLERANCE}`,
    problems: compareDetections(answer, recorded.detections, { tolerance: TOLERANCE, clamp: true }),
    note: `The first photo took ${parts.map(([name, ms]) => `${time(ms * 1000)} of ${name}`).join(", ")}.`,
  };
}

export async function live(setting) {
  const shots = [];
  for (const photo of PHOTOS) shots.push(await makeShot(photo, setting));
  return {
    title: "From a photo",
    what:
      "A network runs: YOLOX nano, by ONNX Runtime. createDetector reads what the file says, prepares the photo, runs " +
      "the network and decodes its tensor [1,3549,85]. Times are of all three together. The photo of the dogs is from " +
      "Open Images (CC BY 2.0), that of Grace Hopper from the US Navy.",
    shots,
  };
}
