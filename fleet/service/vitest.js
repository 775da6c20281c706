/** Settings that the vitest configurations of all parts share. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const sources = fileURLToPath(new URL("src", import.meta.url));

/** Resolves `boxwright-service` to its sources, so that tests do not run the last build. */
export const alias = [
  { find: /^boxwright-service\/((testing\/|http\/|schema\/)?[a-z-]+)$/, replacement: `${sources}/$1.ts` },
];

export const test = {
  include: ["test/**/*.test.{ts,tsx}"],
  setupFiles: [`${sources}/testing/last-words.ts`],
  // onnxruntime-node would leave an empty log in the temporary folder for each process.
  env: { ORT_DISABLE_TELEMETRY: "1" },
  // Use few workers: machines may have two cores, and several files start processes.
  maxWorkers: 2,
  // Use long timeouts: no test measures the speed of the machine, which may be busy.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
  // CI repeats a test once if a wait ran out of time: the machine may have stood still. The report marks such a test
  // with "retry x1". An assertion outside of a wait fails the test at once. A test that testTimeout cut off is not
  // repeated either: it may still be at work.
  retry: process.env.CI ? { count: 1, condition: /^waited \d+ s for / } : 0,
};

/** Returns the paths of the test files below a folder that replace modules. */
const findReplacing = (folder) =>
  readdirSync(join(folder, "test"), { recursive: true })
    .map((file) => `test/${file}`)
    .filter(
      (file) => /\.test\.tsx?$/.test(file) && /\bvi\.(doM|m)ock\(/.test(readFileSync(join(folder, file), "utf8")),
    );

/**
 * Returns the vitest projects of the part in a folder. Test files share two processes: a process for each file would
 * take more than a CPU second to read all sources. Only files that replace modules have their own processes.
 */
export const projects = (resolve, folder) => {
  const alone = findReplacing(folder);
  const shared = { resolve, test: { ...test, name: "shared", isolate: false, exclude: alone } };
  return alone.length === 0 ? [shared] : [shared, { resolve, test: { ...test, name: "alone", include: alone } }];
};
