/** Masks: a person on a photo by two recorded networks, and a complete segmentation head on seeded tensors. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createDecoder, drawSvg, masksOf } from "../../dist/index.mjs";
import { readTensors } from "../../dist/node.mjs";
import { compareDetections, differingPixels } from "./check.mjs";
import { runEngines } from "./engines.mjs";
import { plainGround, readJson, readOutputs } from "./fixtures.mjs";
import { boxRow, BOX_HEAD } from "./table.mjs";

const MASK_HEAD = [...BOX_HEAD, "mask pixels"];

/** Returns a problem for each mask in which a pixel differs from the recorded runs. */
const compareMasks = (masks, recorded) =>
  recorded.flatMap(({ rle }, i) => {
    const count = masks[i] ? differingPixels(masks[i], rle) : 0;
    return count === 0 ? [] : [`row ${i}: pixels of the mask that differ: ${count}`];
  });

/** Returns the parts of a mask that must be equal on all engines. */
const bytesOf = ({ x, y, width, height, data }) => [
  x,
  y,
  width,
  height,
  Buffer.from(data).toString("base64"),
];

/** Cuts out the person: the box is from MobileNet-SSD, the mask from MediaPipe's selfie segmentation. */
async function personOnPhoto({ fixtures, rounds }) {
  const folder = join(fixtures, "beyond", "recorded", "selfie_segmentation", "astronaut");
  const { preprocess, outputs } = readJson(folder, "meta.json");
  const { logits } = readOutputs(folder, outputs);
  const recorded = readJson(folder, "expected.json");
  const boxes = join(fixtures, "mobilenet-ssd");
  const config = await readFile(join(boxes, "config.json"), "utf8");
  const detectionOutput = await readTensors(join(boxes, "astronaut", "meta.json"));
  const { imageWidth: width, imageHeight: height, inputWidth, inputHeight } = preprocess;
  let masks;
  const { runs, answer, same } = await runEngines(rounds, async (engine) => {
    const decoder = await createDecoder(config, { engine });
    const run = () => {
      const persons = decoder
        .decode(detectionOutput)
        .toArray()
        .filter(({ label }) => label === "person");
      masks = masksOf(
        {
          prototypes: logits,
          coefficients: persons.map(() => 1),
          boxes: persons.flatMap(({ x_min, y_min, x_max, y_max }) => [x_min, y_min, x_max, y_max]),
          inputSize: [inputWidth, inputHeight],
          frame: { width, height, resize: "stretch" },
        },
        { engine },
      );
      return persons;
    };
    const answer = () => {
      const persons = run();
      return { persons, masks: masks.map(bytesOf) };
    };
    return { engine: decoder.engine, run, answer };
  });
  const { persons } = answer;
  const title = "MobileNet-SSD and MediaPipe's selfie segmentation on astronaut.jpg";
  const photo = await readFile(join(fixtures, "photos", "astronaut.jpg"));
  const box = { class_id: 1, confidence: persons[0]?.confidence, ...recorded.box };
  return {
    file: "selfie-segmentation.astronaut",
    title,
    svg: drawSvg(photo, Object.assign([...persons], { mask: (row) => masks[row] }), { title }),
    head: MASK_HEAD,
    rows: persons.map((d, i) => [...boxRow(d, width, height), String(masks[i].area)]),
    runs,
    same,
    by: `${recorded.by}, the same pixels of ${recorded.size.join(" x ")}`,
    problems: [...compareDetections(persons, [box], { tolerance: 1e-6 }), ...compareMasks(masks, [recorded])],
    note: "Outside the box nothing is filled, as with any mask.",
  };
}

/** Pixels of the drawing for each input pixel, and the count of detections to draw. */
const ENLARGED = 4;
const DRAWN = 5;

async function seededHead({ fixtures, rounds }) {
  const folder = join(fixtures, "beyond", "heads", "seg_v8");
  const { input, classes, outputs: all, detections } = readJson(folder, "fixture.json");
  const outputs = readOutputs(
    folder,
    all.filter(({ name }) => /^output[01]$/.test(name)),
  );
  const { width, height } = input;
  const config = {
    family: "yolov8",
    task: "segment",
    classes,
    inputSize: [width, height],
    coordinates: "pixels",
  };
  const options = { confidenceThreshold: 0.26, iouThreshold: 0.45, rules: { clamp: "none" } };
  let plan = "";
  let found;
  let masks;
  const { runs, answer, same } = await runEngines(rounds, async (engine) => {
    const decoder = await createDecoder(config, { engine, ...options });
    plan = decoder.describe().text;
    const run = () => {
      const rows = decoder.decode(outputs);
      masks = Array.from(rows, (_, i) => rows.mask(i, { size: "network", rule: "input" }));
      return rows;
    };
    const answer = () => {
      found = run().copy();
      return { rows: found.toArray(), masks: masks.map(bytesOf) };
    };
    return { engine: decoder.engine, run, answer };
  });
  const best = answer.rows.slice(0, DRAWN);
  const drawn = Object.assign(best, { mask: (row, wanted) => found.mask(row, wanted) });
  const recorded = detections.map((d) => ({
    ...d,
    ...Object.fromEntries(
      ["x_min", "y_min", "x_max", "y_max"].map((key) => [
        key,
        d[key] / (key.startsWith("x") ? width : height),
      ]),
    ),
  }));
  const title = "A YOLOv8 head of masks, seeded, on a plain ground";
  return {
    file: "seeded-masks",
    title,
    network: "YOLOv8, masks, seeded",
    plan,
    svg: drawSvg(await plainGround(width * ENLARGED, height * ENLARGED), drawn, { title }),
    head: MASK_HEAD,
    rows: best.map((d, i) => [...boxRow(d, width, height), String(masks[i].area)]),
    runs,
    same,
    by: `formulas in float64, all masks of ${height} x ${width}`,
    problems: [
      ...compareDetections(answer.rows, recorded, { tolerance: 1e-5 }),
      ...compareMasks(
        masks,
        detections.map((d) => d.masks.input),
      ),
    ],
    note: `Seeded tensors, no real network. The best ${DRAWN} of ${answer.rows.length} detections are shown. All are checked.`,
  };
}

export async function masks(setting) {
  return {
    title: "Masks",
    what:
      "The mask on the photo is real: one recorded network gives the box, another one the pixels. The small networks " +
      "that give both at once are under the AGPL, and no recording of them stands in this repository. Their head is " +
      "shown on seeded tensors, on a plain ground. The line below each table says at which size pixels are counted.",
    shots: [await personOnPhoto(setting), await seededHead(setting)],
  };
}
