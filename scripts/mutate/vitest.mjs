/**
 * Stands in for vitest in a battery: many test files in one bundle, run in order, up to the first failure. It starts in
 * a tenth of a second, and writes the name of each test to descriptor 3 before the test starts, so that the parent
 * knows which one hangs.
 */
import { readFileSync, writeSync } from "node:fs";
import { format } from "node:util";
import { expect, vi } from "vitest";

export { expect, vi };
// A bundle has each module once. Tests that load one afresh fail without a mutant too, and are left out.
vi.resetModules = () => vi;

const tests = [];
let suite = { name: "", parent: null, hooks: {} };

/** Names the file of the tests that follow. */
export function file(name) {
  suite = { name, parent: null, hooks: {} };
}

const bodyOf = (args) => args.find((a) => typeof a === "function");
const named = (name, args) => {
  const [first] = args;
  const text = String(name).replace(/\$(\w+)/g, (whole, key) =>
    first !== null && typeof first === "object" && key in first ? String(first[key]) : whole,
  );
  const holes = text.replace(/%%/g, "").match(/%[sdifjoO]/g)?.length ?? 0;
  return format(text, ...args.slice(0, holes));
};
/** Makes `each`, `skipIf` and their like for `test` or `describe`. */
const withTables = (add) =>
  Object.assign(add, {
    each:
      (rows) =>
      (name, ...rest) => {
        for (const row of rows) {
          const args = Array.isArray(row) ? row : [row];
          add(named(name, args), () => bodyOf(rest)(...args));
        }
      },
    skip: () => undefined,
    skipIf: (skipped) => (skipped ? Object.assign(() => undefined, { each: () => () => undefined }) : add),
  });

export const describe = withTables((name, ...rest) => {
  const outer = suite;
  suite = { name: `${outer.name} > ${name}`, parent: outer, hooks: {} };
  bodyOf(rest)?.();
  suite = outer;
});
export const test = withTables((name, ...rest) =>
  tests.push({ name: `${suite.name} > ${name}`, suite, body: bodyOf(rest) }),
);
export const it = test;

const hook = (when) => (body) => void (suite.hooks[when] ??= []).push(body);
export const beforeAll = hook("beforeAll");
export const afterAll = hook("afterAll");
export const beforeEach = hook("beforeEach");
export const afterEach = hook("afterEach");

async function runHooks(of, when, once) {
  for (const s of once ? [...chainOf(of)].reverse() : chainOf(of)) {
    for (const body of s.hooks[when] ?? []) await body();
    if (when === "beforeAll") delete s.hooks.beforeAll;
  }
}

function* chainOf(of) {
  for (let s = of; s !== null; s = s.parent) yield s;
}

const say = (...words) => writeSync(3, `${JSON.stringify(words)}\n`);

/**
 * Runs the tests of a bundle, without those that the file BATTERY_SKIP names. Stops at the first failure unless
 * BATTERY_ALL is set. Hooks of `afterAll` do not run: the process ends after the last test.
 */
export async function run() {
  const skipped = new Set(JSON.parse(readFileSync(process.env.BATTERY_SKIP, "utf8")));
  console.log = () => undefined;
  console.warn = () => undefined;
  for (const t of tests.splice(0)) {
    if (skipped.has(t.name)) continue;
    say("test", t.name);
    const failure = await failureOf(t);
    if (failure === null) continue;
    say("failed", t.name, failure);
    if (!process.env.BATTERY_ALL) process.exit(0);
  }
}

/** Says that all bundles have run. */
export function end() {
  say("end");
  process.exit(0);
}

async function failureOf(t) {
  try {
    await runHooks(t.suite, "beforeAll", true);
    await runHooks(t.suite, "beforeEach", true);
    try {
      await t.body();
    } finally {
      await runHooks(t.suite, "afterEach", false);
    }
    return null;
  } catch (e) {
    return String(e?.message ?? e).slice(0, 200);
  }
}
