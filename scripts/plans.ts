/**
 * Compares the results of 5,000 seeded cases of options and shapes (`test/support/shape-cases.ts`) with the record in
 * `test/fixtures/plans.txt`. After a change in how tensors are interpreted, run this to see what else has changed.
 *
 *     npm run plans                       # lists the changed cases with their results
 *     npm run plans -- --against DIR      # lists them beside the results of another checkout
 *     npm run plans -- --update           # records the current results
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { digestOf, type Outcome } from "../test/support/plan-record.ts";
import { shapeCase } from "../test/support/shape-cases.ts";
import { outcomeOfCase } from "../test/support/shape-outcomes.ts";

const CASES = 5000;
const IN_LINE = 12;

/** Limit of cases shown. */
const MOST = 30;

const record = new URL("../test/fixtures/plans.txt", import.meta.url);
const { argv } = process;
const against = argv.includes("--against") ? argv[argv.indexOf("--against") + 1] : null;

const outcomes = Array.from({ length: CASES }, (_, i) => outcomeOfCase(i));
const digests = outcomes.map(digestOf);

if (argv.includes("--update")) {
  const lines = Array.from({ length: Math.ceil(CASES / IN_LINE) }, (_, i) =>
    digests.slice(i * IN_LINE, (i + 1) * IN_LINE).join(" "),
  );
  writeFileSync(record, `${lines.join("\n")}\n`);
} else {
  const other = against
    ? ((await import(pathToFileURL(resolve(against, "test/support/shape-outcomes.ts")).href)) as {
        readonly outcomeOfCase: (number: number) => Outcome;
      })
    : null;
  const before = other
    ? digests.map((_, i) => digestOf(other.outcomeOfCase(i)))
    : readFileSync(record, "utf8").trim().split(/\s+/);
  const changed = digests.flatMap((digest, i) => (digest === before[i] ? [] : [i]));
  const meant = changed.filter((i) => digests[i].slice(0, 5) !== before[i].slice(0, 5));
  for (const i of [...meant, ...changed.filter((k) => !meant.includes(k))].slice(0, MOST)) {
    const { options, outputs } = shapeCase(i);
    const shapes = outputs.map(({ name, dims }) => `${name}:${dims?.join("x")}`).join(" ");
    console.log(`\ncase ${i}: ${JSON.stringify(options)} ${shapes}`);
    for (const [word, { meaning, words }] of [
      ...(other ? [["before", other.outcomeOfCase(i)] as const] : []),
      ["now", outcomes[i]] as const,
    ])
      console.log(`  ${word}: ${meaning}\n    ${words.replaceAll("\n", "\n    ")}`);
  }
  console.log(`\n${changed.length} of ${CASES} cases differ, ${meant.length} in more than words`);
  if (changed.length > 0) process.exitCode = 1;
}
