/**
 * Writes what the reports hold into the pages: README.md, docs/performance.md, docs/recipes.md and the charts
 * beside them. Text between `<!-- name -->` and `<!-- /name -->` is replaced, the rest of a page stays. A
 * report that was not made leaves its places as they are.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MemoryReport } from "./memory.ts";
import {
  cellsBlock,
  factsBlock,
  instructionsBlock,
  memoryBlock,
  recipesBlock,
  shortBlock,
  sweepsBlock,
  timesBlock,
} from "./pages.ts";
import type { RecipeReport } from "./recipes.ts";
import { chartOf, type Report } from "./report.ts";
import { load } from "./results.ts";
import { sweepsChart, type SweepReport } from "./sweep-report.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The workloads of the chart on the README; docs/performance.md has all. */
const CHARTED = ["v8@.25", "v8@.001", "v5@.25", "v3@.25", "nms-1000", "nms-8400"];

/** Where the text between two marks begins and ends. */
function placeOf(page: string, name: string): [from: number, to: number] {
  const [open, close] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const from = page.indexOf(open);
  const to = page.indexOf(close, from);
  if (from < 0 || to < 0)
    throw new Error(`got no ${open.trim()} ... ${close}, expected the place for a table`);
  return [from + open.length, to];
}

/** @throws where the page lacks the marks */
export function replaceBlock(page: string, name: string, block: string): string {
  const [from, to] = placeOf(page, name);
  return `${page.slice(0, from)}\n${block}\n\n${page.slice(to)}`;
}

/** What stands there now. */
export function blockOf(page: string, name: string): string {
  return page.slice(...placeOf(page, name)).trim();
}

/** Of fewer rounds the least disturbed may have been disturbed too. */
const FEWEST_ROUNDS = 3;

export function publish(folder: string): void {
  const put = (file: string, name: string, block: string): void => {
    const path = join(root, file);
    writeFileSync(path, replaceBlock(readFileSync(path, "utf8"), name, block));
    console.log(`${file}: ${name}`);
  };
  const draw = (file: string, svg: string): void => {
    writeFileSync(join(root, file), svg);
    console.log(file);
  };
  const times = load<Report>(folder, "report");
  if (times !== undefined) {
    // A run of a few workloads must not empty the pages of the others.
    const lacking = CHARTED.filter((name) => times.workloads.every((workload) => workload.name !== name));
    if (lacking.length > 0)
      throw new Error(
        `report.json: got no ${lacking.join(", ")}, expected a whole run; add to an earlier one with --append`,
      );
    if (times.rounds < FEWEST_ROUNDS)
      throw new Error(
        `report.json: got a quick look (rounds: ${times.rounds}), expected ${FEWEST_ROUNDS} or more, as \`npm run bench\` makes them`,
      );
    draw("docs/bench.svg", chartOf(times, CHARTED));
    put("README.md", "bench", shortBlock(times));
    put("docs/performance.md", "bench", timesBlock(times));
    put("docs/performance.md", "limits", cellsBlock(times));
  }
  const sweeps = load<SweepReport>(folder, "sweeps");
  if (sweeps !== undefined) {
    draw("docs/sweeps.svg", sweepsChart(sweeps));
    put("docs/performance.md", "sweeps", sweepsBlock(sweeps));
  }
  const memory = load<MemoryReport>(folder, "memory");
  // a run of some parts must not empty the tables of the others
  if (memory !== undefined) {
    const lacking = (["garbage", "memory", "start", "sizes"] as const).filter(
      (part) => memory[part].length === 0,
    );
    if (lacking.length === 0) put("docs/performance.md", "memory", memoryBlock(memory));
    else console.log(`docs/performance.md: memory stays, as memory.json has no ${lacking.join(", ")}`);
  }
  const file = join(folder, "instructions.tsv");
  const instructions = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : undefined;
  if (instructions !== undefined) put("docs/performance.md", "instructions", instructionsBlock(instructions));
  const recipes = load<RecipeReport>(folder, "recipes");
  if (recipes !== undefined) put("docs/recipes.md", "recipes", recipesBlock(recipes));
  const standing = blockOf(readFileSync(join(root, "README.md"), "utf8"), "facts");
  put("README.md", "facts", factsBlock({ memory, sweeps, recipes, instructions }, standing));
}
