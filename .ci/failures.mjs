/**
 * Prints the failures of checks for a reader who sees the last lines of a log only: each failed test or step, with the
 * first lines of what it said.
 *     node .ci/failures.mjs NAME LOG         of the check NAME, which has failed and left LOG
 *     node .ci/failures.mjs --join FILE...   of all checks: what the other form printed, cut to a page
 */
import { existsSync, readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** Lines of one failure, and lines of all. */
const EACH = 10;
const ALL = 60;
/** Characters of a line. A counterexample can be long. */
const WIDTH = 240;
/** A failed test of vitest or of the site, an error outside of tests, a runtime that is missing or wrong. */
const TEST = /^\s*FAIL |Unhandled (Errors?|Rejection)|: (NO|MISSING)(: |, )/;
const STEP = /^\s*FAILED: /;
/** The lines that stay when a page is short. The seed of a random case repeats it. */
const HEAD = (line) => /^-- /.test(line) || TEST.test(line) || STEP.test(line);
const SEED = /seed\b/i;
const ENDS = /^\s*(⎯{5}|== |Test Files |\d+ passed, \d+ failed)/;

/** Lines of the stack that are not of the project, lines of code, and advice. */
const NOISE = /^\s*❯ .*node_modules|^\s*(\d+)?\| |^Hint: /;

const readLines = (file) =>
  stripVTControlCharacters(readFileSync(file, "utf8"))
    .split("\n")
    .filter((line) => line.trim() !== "" && !NOISE.test(line))
    .map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH)}...` : line));

/** Returns the failures of a log: lists of lines, the name first. */
function findFailures(lines) {
  const found = [];
  let open = null;
  let stepStart = 0;
  let before = 0;
  lines.forEach((line, at) => {
    if (STEP.test(line)) {
      // A step without a failed test: its last lines say why.
      const why = found.length === before ? lines.slice(Math.max(stepStart, at - EACH + 1), at) : [];
      found.push([line, ...why]);
    } else if (TEST.test(line)) found.push((open = [line]));
    else if (!ENDS.test(line) && open && open.length < EACH) open.push(line);
    if (STEP.test(line) || ENDS.test(line)) open = null;
    if (STEP.test(line) || /^== /.test(line)) [stepStart, before] = [at + 1, found.length];
  });
  const texts = found.map((block) => block.join("\n"));
  return found.filter((_, i) => texts.indexOf(texts[i]) === i);
}

/** Returns the lines of one check. */
function describeCheck(name, lines) {
  const failures = findFailures(lines);
  return [`-- ${name}`, ...(failures.length > 0 ? failures.flat() : lines.slice(1 - EACH))];
}

/** Returns at most a page: the same count of lines for each failure, as many as there is room for. */
function joinChecks(lines) {
  for (let each = EACH; each > 0; each--) {
    let count = 0;
    const kept = lines.filter((line) => (count = HEAD(line) ? 1 : count + 1) <= each || SEED.test(line));
    if (kept.length <= ALL) return kept;
  }
  const heads = lines.filter(HEAD);
  return [...heads.slice(0, ALL - 1), `... and ${heads.length - ALL + 1} more`];
}

const [word, ...files] = process.argv.slice(2);
const page =
  word === "--join"
    ? joinChecks(files.filter((file) => existsSync(file)).flatMap(readLines))
    : describeCheck(word, readLines(files[0]));
for (const line of page) console.log(line);
