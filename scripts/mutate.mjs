/**
 * Mutation tests of the kernels, of their twin and of folders of src/:
 * node scripts/mutate.mjs TARGET [--minutes 20] [--seed 1] [--count N] [--only assembly/nms.ts[:120]] [--list]
 * node scripts/mutate.mjs TARGET --again, to try the survivors of the last run again, after adding tests
 *
 * Mutants are tried in a seeded random order, so that an interrupted run is still a fair sample. No file of the tree
 * changes. Survivors are printed, and written to build/mutate/TARGET.json. A survivor shows a missing test, or code
 * without effect.
 */
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { parseArgs } from "node:util";
import asc from "assemblyscript/asc";

import { mutantsOf } from "./mutate/operators.mjs";

const LAWS = ["laws/formulas", "truth/golden", "truth/recorded"];
/** Slow tests. Each runs only for mutants of the source beside it. */
const ONLY_FOR = new Map([["test/decode/best.test.ts", "src/decode/best.ts"]]);
/** Additional milliseconds for the tests, beyond twice their time without a mutant. */
const PATIENCE = 15_000;
/**
 * The targets. Each has its sources, the tests for its mutants (fastest first), and for a kernel the compiler settings.
 */
const TARGETS = {
  kernel: {
    sources: ["assembly"],
    tests: ["engine/*", "decode/nms", "laws/engine-parity"],
    config: "asconfig.json",
    prefix: "",
  },
  masks: {
    sources: ["assembly/masks"],
    tests: ["tasks/masks/parity", "tasks/masks/golden"],
    config: "asconfig.masks.json",
    prefix: "masks.",
  },
  prepare: {
    sources: ["assembly/prepare"],
    tests: ["truth/prepare", "picture/prepare"],
    config: "asconfig.prepare.json",
    prefix: "prepare.",
  },
  // Judge the TypeScript engine by the specification, formulas and recorded answers, not by the kernel that it mirrors.
  twin: {
    sources: ["src/engine/ts"],
    tests: [
      "laws/formulas",
      "truth/golden",
      "truth/recorded",
      "engine/overflow",
      "engine/chains",
      "engine/gates",
      "engine/boxes",
      "engine/value",
      "memory/gather",
      "decode/nms",
    ],
    tsAlone: true,
  },
  "twin-masks": {
    sources: ["src/engine/ts/masks"],
    tests: ["tasks/masks/rules", "tasks/masks/golden"],
    tsAlone: true,
  },
  "twin-prepare": {
    sources: ["src/engine/ts/prepare"],
    tests: ["truth/prepare", "picture/prepare"],
    tsAlone: true,
  },
  heads: shared("heads", ["heads/*", ...LAWS, "config/*", "decode/*", "plan/*"]),
  memory: shared("memory", ["memory/*", ...LAWS, "plan/*", "planfile/decoder", "decode/*"]),
  decode: shared("decode", ["decode/*", ...LAWS, "plan/*", "planfile/decoder", "planfile/write"]),
  plan: shared("plan", ["plan/*", ...LAWS, "heads/*", "planfile/write", "decode/*"]),
};

/** Returns a target of code that all engines share: its tests run with one engine. */
function shared(folder, tests) {
  return { sources: [`src/${folder}`], tests, engines: ["simd"] };
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "100000" },
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
    again: { type: "boolean", default: false },
  },
});
const target = TARGETS[positionals[0]];
if (target === undefined) {
  console.error(`got the target ${positionals[0]}, expected ${Object.keys(TARGETS).join(", ")}`);
  process.exit(2);
}

/** Expands names that end in a wildcard, such as "decode/*". */
const testFiles = target.tests.flatMap((name) =>
  name.endsWith("*")
    ? readdirSync(`test/${dirname(name)}`)
        .filter((f) => f.endsWith(".test.ts"))
        .map((f) => `test/${dirname(name)}/${f}`)
    : [`test/${name}.test.ts`],
);
// Check that the tests exist: otherwise they would kill no mutant.
const missing = testFiles.filter((file) => !existsSync(file));
if (missing.length > 0) throw new Error(`no such test: ${missing.join(", ")}`);

/** Returns all mutants of the target in a seeded order. */
function drawMutants() {
  const [file, line] = options.only.split(":");
  const all = target.sources
    .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => mutantsOf(name, readFileSync(name, "utf8")))
    .filter((m) => !file || (m.file.endsWith(file) && (!line || m.line === Number(line))));
  let state = Number(options.seed);
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let i = all.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [all[i], all[k]] = [all[k], all[i]];
  }
  return all;
}

/** Compiles a kernel with one source replaced. Returns null if the compiler refuses it. */
async function compile(kind, file, text) {
  const { entries, options: shared, targets } = JSON.parse(readFileSync(target.config, "utf8"));
  // Compile with less optimisation, which takes a quarter of the time.
  const settings = { ...shared, ...targets[kind], optimizeLevel: 1, shrinkLevel: 0 };
  delete settings.outFile;
  delete settings.textFile;
  const flags = Object.entries(settings).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, [value].flat().join()],
  );
  let binary = null;
  const { error } = await asc.main([...entries, ...flags, "--outFile", "kernel.wasm"], {
    readFile: (name) => {
      if (name === file) return text;
      try {
        return readFileSync(name, "utf8");
      } catch {
        return null;
      }
    },
    writeFile: (_, contents) => void (binary = contents),
    listFiles: () => [],
  });
  return error ? null : Buffer.from(binary);
}

/**
 * Compiles a mutant of a kernel, without vectors and with them, and tests the builds that differ from the original. If
 * none differs, the mutant changes nothing.
 */
async function tryKernel(mutant, text) {
  const kinds = basename(mutant.file).endsWith("4.ts") ? ["simd"] : ["scalar", "simd"];
  for (const kind of kinds) {
    const binary = await compile(kind, mutant.file, text);
    if (binary === null) return { result: "invalid" };
    if (binary.equals(originals[kind])) continue;
    const name = `${target.prefix}${kind}.wasm`;
    writeFileSync(`${folder}/${name}`, binary);
    const by = await killOf(mutant, null);
    copyFileSync(`build/${name}`, `${folder}/${name}`);
    return { result: by === null ? "survived" : "killed", by, kind };
  }
  return { result: "equivalent" };
}

async function tryMutant(mutant) {
  const text = readFileSync(mutant.file, "utf8");
  const mutated = text.slice(0, mutant.start) + mutant.to + text.slice(mutant.end);
  if (target.config) return tryKernel(mutant, mutated);
  const by = await killOf(mutant, mutated);
  // If && replaces ?? in "a ?? b", the result may be invalid JavaScript.
  if (by?.includes("[PARSE_ERROR]")) return { result: "invalid" };
  return { result: by === null ? "survived" : "killed", by };
}

/**
 * Runs the tests against a mutated source, or against the kernels in the folder. Returns why a test failed, null if all
 * passed.
 */
function killOf({ file }, text, patience = PATIENCE + 2 * baseline) {
  const textFile = `${folder}/mutant.ts`;
  if (text !== null) writeFileSync(textFile, text);
  const tests = testFiles.filter((test) => !ONLY_FOR.has(test) || ONLY_FOR.get(test) === file);
  const engines = target.tsAlone ? ["ts"] : (target.engines ?? ["simd", "scalar", "ts"]);
  const job = { tests, file: text && file, textFile, kernels: target.tsAlone ? null : folder, engines };
  const words = ["node_modules/vitest/vitest.mjs", "run", "--config", "scripts/mutate/vitest.config.mjs"];
  const child = spawn(process.execPath, [...words, "--root", "."], {
    // Use a separate group, so that a worker that hangs is killed too.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", MUTANT: JSON.stringify(job) },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk) => (out += chunk));
  return new Promise((done) => {
    let hangs = false;
    const timer = setTimeout(() => {
      hangs = true;
      process.kill(-child.pid, "SIGKILL");
    }, patience);
    child.on("close", (code) => {
      clearTimeout(timer);
      const [, test, message = ""] = /^ FAIL +(.*)\n(.*)/m.exec(out) ?? [
        null,
        "the process ends",
        out.slice(-500),
      ];
      done(hangs ? "hangs" : code === 0 ? null : `${test}: ${message}`);
    });
  });
}

/** Prints killed and survived mutants for each file, and the score with its sampling error. */
function report(tried, all) {
  const rows = new Map();
  for (const { file, result } of tried) {
    const row = rows.get(file) ?? { killed: 0, survived: 0, equivalent: 0, invalid: 0 };
    row[result]++;
    rows.set(file, row);
  }
  console.table(Object.fromEntries([...rows].sort()));
  const killed = tried.filter((m) => m.result === "killed").length;
  const judged = killed + tried.filter((m) => m.result === "survived").length;
  const share = killed / judged;
  const error = 1.96 * Math.sqrt((share * (1 - share)) / judged);
  console.log(
    `${positionals[0]}: ${killed} of ${judged} mutants killed, ${(100 * share).toFixed(1)} % +- ${(100 * error).toFixed(1)}; ` +
      `seed ${options.seed}, ${tried.length} of ${all.length} mutants tried`,
  );
}

/** Returns the survivors of the last run that are still mutants of the current sources. */
function lastSurvivors(all) {
  const saved = JSON.parse(readFileSync(results, "utf8")).filter(({ result }) => result === "survived");
  return all.filter((m) =>
    saved.some((s) => ["file", "start", "from", "to"].every((key) => s[key] === m[key])),
  );
}

const results = `build/mutate/${positionals[0]}.json`;
const mutants = options.again ? lastSurvivors(drawMutants()) : drawMutants();
if (options.list) {
  for (const { file, line, from, to } of mutants) console.log(`${file}:${line}: ${from} -> ${to}`);
  process.exit(0);
}
console.log(`seed ${options.seed}, ${mutants.length} mutants`);
const folder = `build/mutate/${positionals[0]}`;
mkdirSync(folder, { recursive: true });
for (const name of readdirSync("build").filter((name) => name.endsWith(".wasm")))
  copyFileSync(`build/${name}`, `${folder}/${name}`);
const start = Date.now();
const wrong = await killOf({ file: null }, null, 600_000);
if (wrong !== null) throw new Error(`without a mutant: ${wrong}`);
const baseline = Date.now() - start;
console.log(`the tests take ${(baseline / 1000).toFixed(1)} s without a mutant`);
const originals = {};
if (target.config) for (const kind of ["simd", "scalar"]) originals[kind] = await compile(kind, "", "");
const end = Date.now() + Number(options.minutes) * 60_000;
const tried = [];
for (const mutant of mutants.slice(0, Number(options.count))) {
  if (Date.now() > end) break;
  const outcome = await tryMutant(mutant);
  tried.push({ ...mutant, ...outcome });
  if (!options.again) writeFileSync(results, JSON.stringify(tried, null, 1));
  const { file, line, from, to } = mutant;
  if (outcome.result === "survived" || options.only || options.again)
    console.log(
      `${outcome.result} ${file}:${line}: ${from.replace(/\s+/g, " ")} -> ` +
        `${to.replace(/\s+/g, " ")}${outcome.by ? `  (${outcome.by.split("\n")[0]})` : ""}`,
    );
}
report(tried, mutants);
