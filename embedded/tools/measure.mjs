/**
 * Makes the tables of figures.md from the results of ci.sh in build/:
 *
 *     node tools/measure.mjs             prints the tables
 *     node tools/measure.mjs --write     puts them into figures.md
 *     node tools/measure.mjs --check     fails if a figure in figures.md is off by more than 5 %
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = new URL("../figures.md", import.meta.url);
const MARKS = ["<!-- measured: begin -->\n", "<!-- measured: end -->"];
/** Largest change of a figure without an update of the page. A new kernel changes figures a little. */
const TOLERANCE = 0.05;
const TARGETS = {
  host: "x86-64 Linux",
  arm64: "arm64 Linux",
  armhf: "armv7 Linux (hard float)",
  m3: "Cortex-M3 (no FPU)",
  m4: "Cortex-M4 (single-precision FPU)",
  m7: "Cortex-M7 (double-precision FPU)",
};
const VARIANTS = { O2: "`-O2`", Os: "`-Os`", "Os-unchecked": "`-Os -DBXW_UNCHECKED`" };
const COUNTED = [
  "tiny-face",
  "yolo-fastest astronaut",
  "mobilenet-ssd astronaut",
  "DFL maps",
  "priors",
  "YOLOv8",
];

const read = (path) => readFileSync(new URL(`../build/${path}`, import.meta.url), "utf8");
const figure = (value) => Number(value).toLocaleString("en-US");
const row = (cells) => `| ${cells.join(" | ")} |`;
const table = (titles, rows) =>
  [row(titles), `|${titles.map(() => "---|").join("")}`, ...rows.map(row)].join("\n");

/** Returns the match of a pattern in a file of build/. */
function find(path, pattern) {
  const match = pattern.exec(read(path));
  if (match !== null) return match.slice(1);
  throw new Error(`build/${path} has no line like ${pattern}. Run ./ci.sh first.`);
}

function codeTable() {
  const size = (target, variant) => figure(JSON.parse(read(`${target}-${variant}/size.json`)).library);
  return table(
    ["", ...Object.values(VARIANTS)],
    Object.entries(TARGETS).map(([t, name]) => [name, ...Object.keys(VARIANTS).map((v) => size(t, v))]),
  );
}

/** Returns the table of the code size of a source file that only some programs link. */
function sourceTable(source) {
  const size = (target, variant) => figure(JSON.parse(read(`${target}-${variant}/size.json`))[source]);
  return table(
    ["", ...Object.values(VARIANTS).slice(0, 2)],
    Object.entries(TARGETS).map(([t, name]) => [name, size(t, "O2"), size(t, "Os")]),
  );
}

/**
 * Returns the table of flash, RAM, stack and instructions of an example on the boards.
 * @param tensor bytes of the tensor that replaces the network
 */
function boardTable(example, tensor, sizesOf) {
  const rows = ["m3", "m4", "m7"].map((t) => {
    const [flash, ram] = sizesOf(JSON.parse(read(`${t}-Os/size.json`)));
    const [instructions, stack] = find(
      `${t}-Os/${example}.txt`,
      /^measured: (\d+) instructions, stack (\d+) bytes/m,
    );
    return [TARGETS[t], ...[flash - tensor, ram, stack, instructions].map(figure)];
  });
  return table(["", "flash", "RAM", "stack used", "instructions"], rows);
}

function instructionTable() {
  const rows = [...read("instructions.txt").matchAll(/^ *(\d+) instructions {2}(.*): (\d+) detections$/gm)]
    .map(([, count, name, detections]) => [name, detections, figure(count)])
    .filter(([name]) => COUNTED.some((c) => name === c || (c === "YOLOv8" && name.startsWith(c))));
  return table(["case", "detections", "instructions"], rows);
}

/** Returns the compilers that the figures depend on. */
function compilers() {
  const version = (gcc) => execFileSync(gcc, ["-dumpfullversion"], { encoding: "utf8" }).trim();
  return `gcc ${version("gcc")} (x86-64), ${version("arm-none-eabi-gcc")} (Cortex-M)`;
}

function measured() {
  const [planMemory] = find("face_plan.h", /face_memory_bytes = (\d+)/);
  const [fomoMemory] = find("fomo_plan.h", /fomo_memory_bytes = (\d+)/);
  return `Compilers: ${compilers()}.

Code of the library with its kernel, in bytes:

${codeTable()}

Code of \`src/oriented.c\`, which only programs with oriented boxes link:

${sourceTable("oriented")}

Code of \`src/cells.c\`, which only programs with FOMO link:

${sourceTable("cells")}

The face example with \`-Os\`: flash without its tensor, RAM with the memory of the plan (${figure(planMemory)} bytes)
and 2,048 bytes of stack, stack used, and instructions of one decode of [1,13,13,25] floats (QEMU, in steps of 40):

${boardTable("face", 16900, ({ flash, ram }) => [flash, ram])}

The FOMO example with \`-Os\`: likewise, with the memory of its plan (${figure(fomoMemory)} bytes), 6,336 bytes of rows for
all 144 cells, and one \`bxw_decode_cells\` of [1,12,12,2] in i8, whose 13 cells over the threshold are two faces:

${boardTable("fomo", 288, ({ fomoFlash, fomoRam }) => [fomoFlash, fomoRam])}

Instructions of one decode on x86-64 with \`-O2\` (callgrind):

${instructionTable()}
`;
}

/** Returns the differences between the tables on the page and those measured. */
function differences(stated, now) {
  const pattern = /\d[\d,]*/g;
  const isOff = (a, b) => Math.abs(a - b) > TOLERANCE * Math.max(a, b);
  const value = (text) => Number(text.replaceAll(",", ""));
  const [before, after] = [stated.split("\n"), now.split("\n")];
  if (before.length !== after.length) return [`${before.length} lines, measured ${after.length}`];
  return before.flatMap((line, i) => {
    const [a, b] = [line.match(pattern) ?? [], after[i].match(pattern) ?? []];
    const isSame =
      line.replace(pattern, "#") === after[i].replace(pattern, "#") &&
      !a.some((x, k) => isOff(value(x), value(b[k])));
    return isSame ? [] : [`"${line}", measured "${after[i]}"`];
  });
}

function check(stated, now) {
  // Compare figures only if the compilers are those of the page. CI always compares: it has these compilers.
  const compilersIn = (text) => /^Compilers: (.*)\.$/m.exec(text)?.[1];
  if (compilersIn(stated) && compilersIn(stated) !== compilersIn(now) && !process.env.CI) {
    console.log(
      `Not compared: figures.md has figures of ${compilersIn(stated)}, here is ${compilersIn(now)}`,
    );
    return;
  }
  const found = differences(stated, now);
  for (const d of found) console.log(`figures.md: ${d}`);
  if (found.length > 0) {
    console.log("Run node tools/measure.mjs --write and commit figures.md.");
    process.exitCode = 1;
  }
}

const page = readFileSync(PAGE, "utf8");
const [before, rest] = page.split(MARKS[0]);
const [stated, after] = rest.split(MARKS[1]);
const now = measured();
if (process.argv.includes("--write")) writeFileSync(PAGE, `${before}${MARKS[0]}${now}${MARKS[1]}${after}`);
else if (process.argv.includes("--check")) check(stated, now);
else console.log(now);
