/**
 * Runs real networks on photos, from the file of the network to a picture of what it finds, and checks what is there:
 * `npm run test:networks`. Networks of npm packages are fetched. Draws into out/networks.
 *
 *     node test/networks/run.mjs [--only WORD] [--models FOLDER]
 *
 * FOLDER has files that neither a registry nor BOXWRIGHT_SHARED has. Without them, their networks are left out.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import jpeg from "jpeg-js";
import { createDetector, drawSvg, tflite, toPixels } from "../../dist/index.mjs";
import { imageInfo, rasterise } from "../../dist/node.mjs";
import { fetchProgram, obtain } from "../runtimes/install.mjs";
import { NETWORKS } from "./list.mjs";
import { interpreterOf } from "./tflite-node.mjs";

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const out = join(root, "out", "networks");
const { only = "", models } = parseArgs({
  options: { only: { type: "string" }, models: { type: "string" } },
}).values;
mkdirSync(out, { recursive: true });

/** A picture of text, which no photo at hand has. */
const SIGN = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480" viewBox="0 0 640 480">
  <rect width="640" height="480" fill="#f4efe2"/>
  <g font-family="DejaVu Sans" fill="#222">
    <text x="60" y="110" font-size="56">Open all day</text>
    <text x="60" y="200" font-size="32">Coffee and cake from 9 to 18</text>
    <text transform="translate(120 400) rotate(-20)" font-size="48" fill="#a02020">No smoking</text>
  </g>
</svg>`;

/** Returns the path of a photo. */
async function photoPath(name) {
  if (name !== "sign.png") return join(root, "test", "fixtures", "photos", name);
  const path = join(out, name);
  writeFileSync(path, await rasterise(SIGN));
  return path;
}

/** Returns the folder of a network's files, null if nobody gave it. */
async function folderOf({ from }) {
  if (from === "fixtures") return join(root, "test", "fixtures", "models");
  if (from === "folder") return models ?? null;
  const shared = process.env.BOXWRIGHT_SHARED;
  if (from === "shared") return shared ? join(shared, "data", "models") : null;
  return dirname(await fetchProgram(from.bin.split("/").slice(0, 2).join("-"), from));
}

/** Returns the bytes of a network, which may stand in a larger file beside its table of contents. */
function bytesOf(folder, file) {
  if (typeof file === "string") return new Uint8Array(readFileSync(join(folder, file)));
  const table = readFileSync(join(folder, `${file.in}_loader.js`), "utf8");
  const entry = [...table.matchAll(/"filename": ?"([^"]+)", ?"start": ?(\d+), ?"end": ?(\d+)/g)].find(
    ([, name]) => basename(name) === file.named,
  );
  if (entry === undefined) throw new Error(`${file.in} has no ${file.named}`);
  return new Uint8Array(readFileSync(join(folder, `${file.in}.data`))).slice(
    Number(entry[2]),
    Number(entry[3]),
  );
}

/** Runs a file by the command line, which draws too. Returns the detections of a photo, 0..1. */
async function byCommand({ file, words, name }, folder, photo) {
  // TensorFlow Lite is no package of this project: the command finds the one that was fetched.
  const modules = file.endsWith(".tflite") ? join(await obtain("tflite"), "../../../..") : "";
  const drawn = join(out, name.replaceAll(/\W+/g, "-"));
  const { stdout } = await run(
    process.execPath,
    [
      join(root, "dist", "cli.mjs"),
      "run",
      join(folder, file),
      photo,
      ...words,
      "--format",
      "json",
      "--draw",
      drawn,
    ],
    { maxBuffer: 1 << 26, env: { ...process.env, NODE_PATH: modules } },
  );
  const found = JSON.parse(stdout);
  return (Array.isArray(found) ? found : [found]).flatMap((one) => one.detections);
}

/** Runs a TFLite file by a detector, and draws. */
async function byDetector({ file, config, options, points, name }, folder, photo) {
  const runtime = tflite(interpreterOf(await obtain("tflite")));
  const source = { model: bytesOf(folder, file), runtime, ...(config && { config }) };
  const second = points && {
    points: { model: bytesOf(folder, points.file), runtime, config: points.config },
  };
  const detector = await createDetector({ ...source, ...second }, options);
  const bytes = readFileSync(photo);
  const found = await detector.detect(jpeg.decode(bytes, { useTArray: true }));
  const rows = found.toArray();
  const drawn = join(out, name.replaceAll(/\W+/g, "-"));
  mkdirSync(drawn, { recursive: true });
  writeFileSync(
    join(drawn, `${basename(photo)}.png`),
    await rasterise(drawSvg(bytes, found, { title: name })),
  );
  await detector.close();
  return rows;
}

/** Least overlap with a box that was read off by eye, and pixels by which a point may differ from one. */
const OVERLAP = 0.7;
const WITHIN = 15;

function overlap([a, b, c, d], [e, f, g, h]) {
  const shared = Math.max(0, Math.min(c, g) - Math.max(a, e)) * Math.max(0, Math.min(d, h) - Math.max(b, f));
  return shared / ((c - a) * (d - b) + (g - e) * (h - f) - shared);
}

const distance = ([x, y], [u, v]) => Math.hypot(x - u, y - v);

/** Returns what is wrong with the detections of a photo, in pixels. */
function problemsOf(found, objects, more) {
  const left = new Set(found);
  const problems = objects.flatMap((wanted) => {
    const fit = (d) =>
      wanted.box
        ? overlap([d.x_min, d.y_min, d.x_max, d.y_max], wanted.box) >= OVERLAP
        : distance([(d.x_min + d.x_max) / 2, (d.y_min + d.y_max) / 2], wanted.centre) <= wanted.within;
    const match = [...left].find((d) => d.label === wanted.label && fit(d));
    if (match === undefined) return [`no ${wanted.label} at ${wanted.box ?? wanted.centre}`];
    left.delete(match);
    return Object.entries(wanted.points ?? {}).flatMap(([k, place]) => {
      const { x, y } = match.keypoints?.[k] ?? { x: NaN, y: NaN };
      return distance([x, y], place) <= WITHIN
        ? []
        : [`point ${k} of the ${wanted.label} is at ${Math.round(x)}, ${Math.round(y)}, not at ${place}`];
    });
  });
  if (left.size <= more) return problems;
  const others = [...left].map((d) => `${d.label} ${d.confidence.toFixed(2)}`);
  return [...problems, `${left.size} others, at most ${more} were expected: ${others.join(", ")}`];
}

let [passed, failed] = [0, 0];
for (const network of NETWORKS.filter(({ name }) => name.toLowerCase().includes(only.toLowerCase()))) {
  try {
    const folder = await folderOf(network);
    const first = typeof network.file === "string" ? network.file : `${network.file.in}.data`;
    if (folder === null || !existsSync(join(folder, first))) {
      console.log(`${network.name}: left out, ${first} is not here`);
      continue;
    }
    for (const [name, objects] of Object.entries(network.photos)) {
      const photo = await photoPath(name);
      const { width, height } = imageInfo(readFileSync(photo), name);
      const rows = await (network.words ? byCommand : byDetector)(network, folder, photo);
      const found = rows.map((d) => toPixels(d, width, height));
      const problems = problemsOf(found, objects, network.more);
      const said = found.map((d) => `${d.label} ${d.confidence.toFixed(2)}`).join(", ");
      console.log(`${network.name} on ${name}: ${said}${problems.map((p) => `\n  FAILED: ${p}`).join("")}`);
      if (problems.length === 0) passed++;
      else failed++;
    }
  } catch (error) {
    failed++;
    console.log(`${network.name}\n  FAILED: ${error.stack ?? error}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(passed > 0 && failed === 0 ? 0 : 1);
