/** The preparation of a network's input: one photo becomes two input tensors. */
import { createHash } from "node:crypto";
import { drawSvg, prepareImage } from "../../dist/index.mjs";
import { runEngines } from "./engines.mjs";
import { pngOf, readJson, readPng } from "./fixtures.mjs";
import { fixed } from "./table.mjs";

const RULES = {
  letterbox: {
    name: "letterbox of Ultralytics, 0..1",
    rule: { size: [320, 320] },
    colour: (v) => v * 255,
  },
  stretch: {
    name: "stretch of the Object Detection API, -1..1",
    rule: { size: [300, 300], resize: "stretch", layout: "NHWC", mean: 127.5, std: 127.5 },
    colour: (v) => v * 127.5 + 127.5,
  },
};

const sha256 = ({ buffer, byteOffset, byteLength }) =>
  createHash("sha256")
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest("hex");

/** Returns a picture of the network's input. */
function pictureOf({ data, dims }, { rule, colour }) {
  const [width, height] = rule.size;
  const plane = dims[1] === 3 ? width * height : 1;
  const step = dims[1] === 3 ? 1 : 3;
  return pngOf(width, height, (x, y) => {
    const at = (y * width + x) * step;
    return [0, 1, 2].map((c) => Math.round(colour(data[at + c * plane])));
  });
}

async function makeShot(key, image, recorded, rounds) {
  const { name, rule } = RULES[key];
  const { runs, answer, same } = await runEngines(rounds, async (engine) => {
    const run = () => prepareImage(image, rule, { engine });
    const answer = () => {
      const { tensor, frame } = run();
      return { dims: tensor.dims, placed: frame.placed, sha256: sha256(tensor.data) };
    };
    return { engine, run, answer };
  });
  const { tensor, frame } = prepareImage(image, rule);
  const { dims, sha256: wanted } = recorded.tensors[key];
  const title = `${recorded.photo} as a network sees it: ${name}`;
  const range = tensor.data.reduce(
    ([least, most], v) => [Math.min(least, v), Math.max(most, v)],
    [1e9, -1e9],
  );
  const [left, top, width, height] = frame.placed;
  return {
    file: `prepared.${key}`,
    title,
    svg: drawSvg(await pictureOf(tensor, RULES[key]), [], { title }),
    head: ["tensor", "photo at", "values", "SHA-256 of its bytes"],
    rows: [
      [
        `[${answer.dims.join(",")}]`,
        `${left}, ${top}, ${width} x ${height}`,
        range.map((v) => fixed(v, 3)).join(" to "),
        answer.sha256.slice(0, 16),
      ],
    ],
    runs,
    same,
    by: `${recorded.by}, the same bytes`,
    problems: [
      ...(String(answer.dims) === String(dims) ? [] : [`dims are ${answer.dims}, recorded are ${dims}`]),
      ...(answer.sha256 === wanted ? [] : [`SHA-256 is ${answer.sha256}, recorded is ${wanted}`]),
    ],
  };
}

export async function prepare({ fixtures, rounds }) {
  const recorded = readJson(fixtures, "prepare", "chelsea.json");
  const image = await readPng(fixtures, "photos", recorded.photo);
  const shots = [];
  // Measure in milliseconds: each engine takes several.
  for (const key of Object.keys(RULES))
    shots.push(await makeShot(key, image, recorded, Math.ceil(rounds / 10)));
  return {
    title: "Preparation",
    what:
      "A photo becomes the tensor that a network was trained with. " +
      "The pictures are drawn from the values of the tensors.",
    shots,
  };
}
