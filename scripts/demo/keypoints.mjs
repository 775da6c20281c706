/** Keypoints: three recorded networks on photos. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createDecoder, drawSvg, suppressDetections } from "../../dist/index.mjs";
import { compareDetections } from "./check.mjs";
import { runEngines } from "./engines.mjs";
import { readJson, readOutputs } from "./fixtures.mjs";
import { boxRow, BOX_HEAD } from "./table.mjs";

const NETWORKS = [
  {
    folder: "movenet_lightning_192",
    name: "MoveNet Lightning",
    stem: "squat",
    config: { family: "movenet", inputSize: [192, 192], labels: ["person"] },
    options: { confidenceThreshold: 0.2 },
    by: "the rows of TensorFlow Lite",
    recorded: (folder) => [poseOf(readJson(folder, "expected.json").keypoints)],
    tolerance: 1e-6,
  },
  {
    folder: "yunet_2026may_320",
    name: "YuNet",
    stem: "astronaut_collage",
    config: { family: "yunet", inputSize: [320, 320], labels: ["face"] },
    options: {
      confidenceThreshold: 0.6,
      iouThreshold: 0.3,
      rules: { clamp: "none", gate: ">=" },
    },
    by: "OpenCV 4.12, FaceDetectorYN",
    recorded: (folder) => readJson(folder, "outside.json").answers["score>=0.6 nms 0.3"],
    tolerance: 1e-4,
    note: "Six faces, and YuNet at 320 x 320 misses the smallest. OpenCV does so too.",
  },
  {
    folder: "blazeface_short",
    name: "BlazeFace",
    stem: "astronaut",
    config: { family: "blazeface", task: "pose", inputSize: [128, 128], labels: ["face"] },
    options: {
      confidenceThreshold: 0.5,
      rules: { set: "ultralytics", clamp: "none", suppress: "none", gate: ">=" },
    },
    outputs: ["regressors", "classificators"],
    by: "MediaPipe's weighted suppression, by formulas in float64",
    recorded: (folder) => readJson(folder, "expected.json").weighted.detections,
    tolerance: 2e-6,
    finish: (found) => suppressDetections(found, { method: "weighted", iouThreshold: 0.3 }),
  },
];

/** Returns a detection as MoveNet's rule makes one: the mean of the confidences, and the box around all points. */
function poseOf(keypoints) {
  const [xs, ys, confidences] = [0, 1, 2].map((k) => keypoints.map((point) => point[k]));
  return {
    class_id: 0,
    confidence: confidences.reduce((sum, c) => sum + c, 0) / confidences.length,
    x_min: Math.min(...xs),
    y_min: Math.min(...ys),
    x_max: Math.max(...xs),
    y_max: Math.max(...ys),
    keypoints,
  };
}

/** Returns the photo's place in the network's input, from the recording's numbers. */
const frameOf = ({ mode, imageWidth, imageHeight, padX, padY, resizedWidth, resizedHeight }) => ({
  width: imageWidth,
  height: imageHeight,
  resize: mode === "topleft" ? "letterbox-topleft" : mode,
  placed: [padX, padY, resizedWidth, resizedHeight],
});

async function makeShot(network, { fixtures, rounds }) {
  const { config, options, finish = (found) => found } = network;
  const folder = join(fixtures, "beyond", "recorded", network.folder, network.stem);
  const { preprocess, outputs: all } = readJson(folder, "meta.json");
  const outputs = readOutputs(
    folder,
    all.filter(({ name }) => network.outputs?.includes(name) ?? true),
  );
  const frame = frameOf(preprocess);
  let plan = "";
  let found;
  const { runs, answer, same } = await runEngines(rounds, async (engine) => {
    const decoder = await createDecoder(config, { engine, ...options });
    plan = decoder.describe().text;
    const answer = () => {
      const inInput = finish(decoder.decode(outputs)).toArray();
      found = finish(decoder.decode(outputs, frame)).copy();
      return { inInput, inPhoto: found.toArray() };
    };
    return { engine: decoder.engine, run: () => finish(decoder.decode(outputs, frame)), answer };
  });
  const photo = `${network.stem}.jpg`;
  const title = `${network.name} on ${photo}`;
  const { width, height } = frame;
  return {
    file: `${network.folder}.${network.stem}`,
    title,
    network: network.name,
    plan,
    note: network.note,
    svg: drawSvg(await readFile(join(fixtures, "photos", photo)), found, { title }),
    head: [...BOX_HEAD, "keypoints"],
    rows: answer.inPhoto.map((d) => [...boxRow(d, width, height), String(d.keypoints.length)]),
    runs,
    same,
    by: network.by,
    problems: compareDetections(answer.inInput, network.recorded(folder), { tolerance: network.tolerance }),
  };
}

export async function keypoints(setting) {
  const shots = [];
  for (const network of NETWORKS) shots.push(await makeShot(network, setting));
  return {
    title: "Keypoints",
    what:
      "Recorded outputs of a network for poses and two for faces. Points of a confidence below 0.25 are not drawn. " +
      "The pose has 17 points, and its skeleton is that of COCO.",
    shots,
  };
}
