/** Oriented boxes, on seeded tensors: this repository has no recording of such a network. */
import { join } from "node:path";
import { createDecoder, drawSvg, toPixels } from "../../dist/index.mjs";
import { compareNumbers } from "./check.mjs";
import { runEngines } from "./engines.mjs";
import { plainGround, readJson, readOutputs } from "./fixtures.mjs";
import { fixed } from "./table.mjs";

/** Pixels of the drawing for each input pixel. */
const ENLARGED = 4;

/** Count of the boxes to draw, best first. */
const DRAWN = 6;

/** True if a box's centre lies in the picture. The box itself may cross the edge. */
function isInside({ corners }) {
  const [x, y] = ["x", "y"].map((key) => corners.reduce((sum, corner) => sum + corner[key] / 4, 0));
  return x >= 0 && x <= 1 && y >= 0 && y <= 1;
}

/** Converts radians to degrees. Both are clockwise on the screen. */
const degrees = (radians) => (radians * 180) / Math.PI;

/** Compares boxes with recorded ones, in pixels of the input. */
function compareBoxes(found, recorded, { width, height }) {
  if (found.length !== recorded.length)
    return [`got ${found.length} detections, recorded are ${recorded.length}`];
  return found.flatMap((d, i) => {
    const e = recorded[i];
    const p = toPixels(d, width, height);
    const lengths = [
      ["cx", p.cx, e.cx],
      ["cy", p.cy, e.cy],
      ["width", p.width, e.w],
      ["height", p.height, e.h],
      ...e.corners.flatMap(([x, y], k) => cornerPairs(p.corners, x, y, k)),
    ];
    const others = [
      ["class_id", d.class_id, e.class_id],
      ["confidence", d.confidence, e.confidence],
      ["angle", d.angle, e.angle],
    ];
    return [...compareNumbers(`row ${i}`, lengths, 1e-4), ...compareNumbers(`row ${i}`, others, 2e-6)];
  });
}

/**
 * Pairs the corners of two boxes. The recorded corners may begin with another corner, so each is compared with our
 * nearest one.
 */
function cornerPairs(corners, x, y, k) {
  const far = ({ x: ours, y: down }) => Math.hypot(ours - x, down - y);
  const nearest = corners.reduce((best, corner) => (far(corner) < far(best) ? corner : best));
  return [
    [`x of corner ${k}`, nearest.x, x],
    [`y of corner ${k}`, nearest.y, y],
  ];
}

export async function oriented({ fixtures, rounds }) {
  const folder = join(fixtures, "beyond", "heads", "obb_v8");
  const { input, classes, outputs: all, detections: recorded } = readJson(folder, "fixture.json");
  const outputs = readOutputs(
    folder,
    all.filter(({ name }) => name === "output0"),
  );
  const config = { family: "yolov8", task: "oriented", classes, inputSize: [input.width, input.height] };
  const options = { confidenceThreshold: 0.26, orientedSuppression: "opencv" };
  let plan = "";
  const { runs, answer, same } = await runEngines(rounds, async (engine) => {
    const decoder = await createDecoder(config, { engine, ...options });
    plan = decoder.describe().text;
    const answer = () => decoder.decode(outputs).toArray();
    return { engine: decoder.engine, run: () => decoder.decode(outputs), answer };
  });
  const [width, height] = [input.width * ENLARGED, input.height * ENLARGED];
  const drawn = answer.filter(isInside).slice(0, DRAWN);
  const title = "A YOLOv8 head of oriented boxes, seeded, on a plain ground";
  const shot = {
    file: "seeded-oriented",
    title,
    network: "YOLOv8, oriented, seeded",
    plan,
    note: `${drawn.length} of ${answer.length} boxes are shown: the best that have their centre in the picture. All are checked.`,
    svg: drawSvg(await plainGround(width, height), drawn, { title }),
    head: ["label", "confidence", "cx", "cy", "width", "height", "angle"],
    rows: drawn.map((d) => {
      const p = toPixels(d, input.width, input.height);
      const lengths = [p.cx, p.cy, p.width, p.height].map((v) => fixed(v, 1));
      return [`class ${d.class_id}`, fixed(d.confidence, 4), ...lengths, `${fixed(degrees(d.angle), 1)}°`];
    }),
    runs,
    same,
    by: "formulas in float64, and greedy suppression by the polygons' IoU",
    problems: compareBoxes(answer, recorded, input),
  };
  return {
    title: "Oriented boxes",
    what:
      "Seeded tensors, no real network, and therefore a plain ground: the small networks of oriented boxes that we " +
      "know are under the AGPL, and no recording of them stands in this repository. Lengths are pixels of the input, " +
      `${input.width} x ${input.height}. Positive angles turn clockwise.`,
    shots: [shot],
  };
}
