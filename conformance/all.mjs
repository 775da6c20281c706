/**
 * Runs boxwright and the packages of npm that decode detections on the set: `npm run conformance`. Fetches the packages
 * into a temporary folder, and ships none of them. Writes results.json and the tables of docs/conformance.md.
 * `-- --check` only checks that the page has the tables of results.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fetchProgram } from "../test/runtimes/install.mjs";
import { loadSet, runSet } from "./run.mjs";
import { tablesOf, withTables } from "./tables.mjs";

const DECODERS = ["boxwright", "ultralytics", "libreyolo", "yolo-helpers", "transformers"];
const RESULTS = new URL("results.json", import.meta.url);
const PAGE = new URL("../docs/conformance.md", import.meta.url);

/** Packages that decode only the tensors of networks that they run themselves. */
const CLOSED = [
  {
    name: "@mediapipe/tasks-vision",
    version: "1.1.0",
    why: "`ObjectDetector` and `FaceDetector` take a model file and a picture. No function takes tensors",
  },
];

/** Runs a decoder on each case. Returns its name, version and outcomes. */
async function resultOf(name, set) {
  const { packages, bin, open } = await import(`./decoders/${name}.mjs`);
  const decoder = await open(packages && (await fetchProgram(`conformance-${name}`, { packages, bin })));
  const { name: title, licence, how, rules } = decoder;
  const version = decoder.version ?? packages[0].split("@").pop();
  return { name: title, version, licence, how, rules, outcomes: await runSet(decoder, set) };
}

async function main([option]) {
  const set = loadSet();
  if (option !== "--check") {
    const decoders = [];
    for (const name of DECODERS) decoders.push(await resultOf(name, set));
    const about = { set: set.version, date: new Date().toISOString().slice(0, 10), node: process.version };
    writeFileSync(RESULTS, `${JSON.stringify({ ...about, decoders, closed: CLOSED }, null, 1)}\n`);
  }
  const page = readFileSync(PAGE, "utf8");
  const wanted = withTables(page, tablesOf(set, JSON.parse(readFileSync(RESULTS, "utf8"))));
  if (option !== "--check") writeFileSync(PAGE, wanted);
  else if (page !== wanted)
    throw new Error("docs/conformance.md: got other tables than those of results.json");
}

await main(process.argv.slice(2));
