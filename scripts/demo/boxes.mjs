/** Boxes: two recorded networks on photos. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createDecoder, drawSvg } from "../../dist/index.mjs";
import { imageInfo, readTensors } from "../../dist/node.mjs";
import { compareDetections } from "./check.mjs";
import { runEngines } from "./engines.mjs";
import { boxRow, BOX_HEAD } from "./table.mjs";

const NETWORKS = [
  {
    folder: "yolo-fastest-1.1",
    name: "Yolo-Fastest 1.1",
    what: "a YOLOv3 head: two raw maps of 255 channels, described by an nn_config file of family YOLO",
    options: { scores: "logits" },
    photos: ["astronaut.jpg", "chelsea.png", "coffee.jpg"],
    by: "the rows that formulas in float64 give",
  },
  {
    folder: "mobilenet-ssd",
    name: "MobileNet-SSD",
    what: "a [1,1,100,7] detection output, described by an NN_config file of family mobilenet",
    options: {},
    photos: ["chelsea.png", "coffee.jpg"],
    by: "the rows of TensorFlow Lite",
  },
];

async function makeShot(network, photo, { fixtures, rounds }) {
  const stem = photo.replace(/\..*$/, "");
  const folder = join(fixtures, network.folder, stem);
  const config = await readFile(join(fixtures, network.folder, "config.json"), "utf8");
  const outputs = await readTensors(join(folder, "meta.json"));
  const recorded = JSON.parse(await readFile(join(folder, "expected.json"), "utf8")).detections;
  const bytes = await readFile(join(fixtures, "photos", photo));
  const { width, height } = imageInfo(bytes, photo);
  let plan = "";
  const { runs, answer, same } = await runEngines(rounds, async (engine) => {
    const decoder = await createDecoder(config, { engine, ...network.options });
    plan = decoder.describe().text;
    const answer = () => decoder.decode(outputs).toArray();
    return { engine: decoder.engine, run: () => decoder.decode(outputs), answer };
  });
  const title = `${network.name} on ${photo}`;
  return {
    file: `${network.folder}.${stem}`,
    title,
    network: network.name,
    plan,
    svg: drawSvg(bytes, answer, { title }),
    head: BOX_HEAD,
    rows: answer.map((d) => boxRow(d, width, height)),
    runs,
    same,
    by: network.by,
    // The decoder clamps boxes to the picture; the recorded rows are not clamped.
    problems: compareDetections(answer, recorded, { tolerance: 1e-5, clamp: true }),
  };
}

export async function boxes(setting) {
  const shots = [];
  for (const network of NETWORKS)
    for (const photo of network.photos) shots.push(await makeShot(network, photo, setting));
  const what = NETWORKS.map(({ name, what }) => `${name}: ${what}.`).join(" ");
  return { title: "Boxes", what: `Recorded outputs of two networks. ${what}`, shots };
}
