/**
 * Tables of sizes and instruction counts for README.md, from what ci.sh left in build/:
 *
 *     node measure.mjs             prints them
 *     node measure.mjs --write     puts them into README.md
 *     node measure.mjs --compare   says whether README.md has them
 */
import { readFileSync, writeFileSync } from "node:fs";

const file = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const number = (n) => Number(n).toLocaleString("en-US");
const sizes = file("build/sizes.txt");
const names = {
  host: "x86-64 Linux",
  arm64: "arm64 Linux",
  armhf: "armv7 Linux (hard float)",
  m3: "Cortex-M3 (no FPU)",
  m4: "Cortex-M4 (FPU for floats)",
  m7: "Cortex-M7 (FPU for doubles too)",
};
const find = (pattern) => {
  const match = new RegExp(pattern, "m").exec(sizes);
  if (match === null)
    throw new Error(`build/sizes.txt: got no line like ${pattern}, expected one; run ./ci.sh first`);
  return match.slice(1);
};
const variants = ["-O2", "-Os", "-Os -DBXW_UNCHECKED"];
const code = Object.entries(names).map(
  ([t, name]) =>
    `| ${name} | ${variants.map((v) => number(find(`^size: ${t} ${v}: library (\\d+) bytes`)[0])).join(" | ")} |`,
);
const boards = Object.entries(names)
  .filter(([t]) => t.startsWith("m"))
  .map(([t, name]) => {
    const [flash, ram] = find(
      `^size: ${t} -Os: face example (\\d+) bytes of flash \\(tensor in it: 16900\\), (\\d+) bytes of RAM`,
    );
    const [instructions, stack] = find(`^${t} -Os: face: measured: (\\d+) instructions, stack (\\d+) bytes`);
    return `| ${name} | ${[flash - 16900, ram, stack, instructions].map(number).join(" | ")} |`;
  });
const planMemory = /face_memory_bytes = (\d+)/.exec(file("build/face_plan.h"))[1];
const counts = file("build/callgrind.txt")
  .split("\n")
  .map((line) => /^\s*(\d+) instructions\s+(.*): (\d+) detections$/.exec(line))
  .filter(
    (m) =>
      m !== null && /face|yolo|mobilenet|DFL|priors|FastestDet/i.test(m[2]) && !/chelsea|coffee/.test(m[2]),
  )
  .map(([, n, name, found]) => `| ${name} | ${found} | ${number(n)} |`);
const text = [
  "Code of the library (kernel included), bytes:",
  "",
  `| | ${variants.map((v) => `\`${v}\``).join(" | ")} |`,
  "|---|---|---|---|",
  ...code,
  "",
  `The whole face example, \`-Os\`: flash without the tensor in it, RAM with plan memory (${number(planMemory)}) and 2,048 bytes of stack,`,
  "stack really used, and instructions of one decode of [1,13,13,25] floats (QEMU, to the nearest 40):",
  "",
  "| | flash | RAM | stack used | instructions |",
  "|---|---|---|---|---|",
  ...boards,
  "",
  "Instructions of one decode on x86-64, `-O2`, bounds checked (callgrind):",
  "",
  "| case | detections | instructions |",
  "|---|---|---|",
  ...counts,
].join("\n");

const marks = ["<!-- measured: begin -->", "<!-- measured: end -->"];
const readme = file("README.md");
const [before, rest] = readme.split(marks[0]);
const after = rest.split(marks[1])[1];
const next = `${before}${marks[0]}\n${text}\n${marks[1]}${after}`;
if (process.argv.includes("--write")) writeFileSync(new URL("../README.md", import.meta.url), next);
else if (process.argv.includes("--compare"))
  console.log(
    next === readme
      ? "README.md has these figures"
      : "README.md has other figures: node measure.mjs --write puts these in",
  );
else console.log(text);
