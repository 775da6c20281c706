/**
 * The demo: runs a network on photos, decodes recorded outputs of other networks with each engine, and prints the
 * fields of detections and the times. Writes the annotated photos, and one page that shows them. `npm run demo` runs
 * this after a build. The exit code is 1 if engines disagree or an answer differs from the recorded one.
 *
 *     node scripts/demo.mjs [--out FOLDER] [--fixtures FOLDER] [--rounds 1000]
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { rasterise } from "../dist/node.mjs";
import { boxes } from "./demo/boxes.mjs";
import { keypoints } from "./demo/keypoints.mjs";
import { live } from "./demo/live.mjs";
import { masks } from "./demo/masks.mjs";
import { oriented } from "./demo/oriented.mjs";
import { pageOf } from "./demo/page.mjs";
import { prepare } from "./demo/prepare.mjs";
import { printSection, printShot } from "./demo/print.mjs";
import { isGood } from "./demo/table.mjs";

// A reader such as `| head` may close the pipe early. Write the pictures in any case.
process.stdout.on("error", (e) => {
  if (e.code !== "EPIPE") throw e;
});

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { out, fixtures, rounds } = parseArgs({
  options: {
    out: { type: "string", default: join(root, "out", "demo") },
    fixtures: { type: "string", default: join(root, "test", "fixtures") },
    rounds: { type: "string", default: "1000" },
  },
}).values;

await mkdir(out, { recursive: true });
const sections = [];
for (const task of [live, boxes, keypoints, masks, oriented, prepare]) {
  const section = await task({ fixtures, rounds: Number(rounds) });
  printSection(section);
  for (const shot of section.shots) {
    printShot(shot);
    await writeFile(join(out, `${shot.file}.svg`), shot.svg);
    await writeFile(join(out, `${shot.file}.png`), await rasterise(shot.svg));
  }
  sections.push(section);
}
await writeFile(join(out, "index.html"), pageOf(sections));

const shots = sections.flatMap((section) => section.shots);
const good = shots.filter(isGood).length;
console.log(`\n${good} of ${shots.length} pictures are as recorded, by all engines.`);
console.log(
  `Wrote them as SVG and PNG, and the page that shows them: ${relative(process.cwd(), join(out, "index.html"))}`,
);
if (good < shots.length) process.exitCode = 1;
