/** Settings that the vitest configurations of all parts share. */
import { fileURLToPath } from "node:url";

const sources = fileURLToPath(new URL("src", import.meta.url));

/** Tests run from sources: of `boxwright-service` too. */
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

/**
 * Returns the two projects of a part. Test files share two processes: a process of its own costs each more than a CPU
 * second, since it reads all sources anew. Only files that replace a module for themselves have one.
 */
export const projects = (resolve, alone) => {
  const shared = { resolve, test: { ...test, name: "shared", isolate: false, exclude: alone } };
  return alone.length === 0 ? [shared] : [shared, { resolve, test: { ...test, name: "alone", include: alone } }];
};
