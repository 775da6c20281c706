/**
 * Makes docs/result.jpg, the README's picture, from pictures of the demo: `node scripts/result-picture.mjs`, after a
 * build. The demo checks the results in these pictures.
 */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { encode } from "jpeg-js";
import { PNG } from "pngjs";
import { rasterise } from "../dist/node.mjs";
import { boxes } from "./demo/boxes.mjs";
import { keypoints } from "./demo/keypoints.mjs";
import { masks } from "./demo/masks.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const setting = { fixtures: join(root, "test", "fixtures"), rounds: 2 };

/** Height of the picture, and the white space between its parts, in pixels. */
const HEIGHT = 400;
const GAP = 6;
/** Quality of the JPEG, 0 to 100. */
const QUALITY = 85;

const PARTS = [
  { task: boxes, file: "yolo-fastest-1.1.coffee" },
  { task: keypoints, file: "movenet_lightning_192.squat" },
  { task: masks, file: "selfie-segmentation.astronaut" },
];

/** Returns a drawing, scaled to the common height, as RGBA bytes. */
async function partOf({ task, file }) {
  const { shots } = await task(setting);
  const { svg } = shots.find((shot) => shot.file === file);
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg).map(Number);
  const png = await rasterise(svg, { width: Math.round((width * HEIGHT) / height) });
  return PNG.sync.read(Buffer.from(png));
}

const parts = [];
for (const part of PARTS) parts.push(await partOf(part));
const width = parts.reduce((sum, part) => sum + part.width + GAP, -GAP);
const whole = new PNG({ width, height: HEIGHT });
whole.data.fill(255);
let left = 0;
for (const part of parts) {
  PNG.bitblt(part, whole, 0, 0, part.width, Math.min(part.height, HEIGHT), left, 0);
  left += part.width + GAP;
}
const { data } = encode({ width, height: HEIGHT, data: whole.data }, QUALITY);
await writeFile(join(root, "docs", "result.jpg"), data);
console.log(`docs/result.jpg: ${width} x ${HEIGHT}, ${data.length} bytes`);
