/** The judge's parent: sends mutants, stops a judge that hangs and starts another one. */
import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, context } from "esbuild";
import { sourcesPlugin } from "./battery.mjs";

/** Milliseconds without a new case after which a mutant hangs. A case takes a few without a mutant. */
const PATIENCE = 4000;
/** Mutants after which a judge is replaced: modules that it loaded stay in its memory. */
const MUTANTS_PER_PROCESS = 300;

const bundling = (changed, tsAlone) => ({
  bundle: true,
  format: "esm",
  platform: "node",
  packages: "external",
  logLevel: "error",
  plugins: [sourcesPlugin(changed, tsAlone)],
});

class Judge {
  #words;
  #process = null;
  #judged = 0;

  constructor(...words) {
    this.#words = words;
  }

  /** Returns why a mutant is wrong, or null. */
  async judge(mutant) {
    if (this.#judged++ % MUTANTS_PER_PROCESS === 0) this.end();
    if (this.#process === null) await this.#start();
    this.#process.send(mutant);
    const answer = await this.#answer(PATIENCE);
    if (answer === null) this.end();
    return answer === null ? "hangs" : answer.reason;
  }

  end() {
    this.#process?.kill("SIGKILL");
    this.#process = null;
  }

  async #start() {
    const [script, ...words] = this.#words;
    this.#process = fork(script, words, { stdio: ["ignore", "ignore", "inherit", "pipe", "ipc"] });
    if (!(await this.#answer(600_000))?.ready) throw new Error("judge: got no start");
  }

  /** Returns the next message; null after `limit` milliseconds without a case or if the process ends. */
  #answer(limit) {
    return new Promise((done) => {
      const child = this.#process;
      const finish = (message) => {
        clearTimeout(timer);
        for (const name of ["message", "exit"]) child.removeAllListeners(name);
        child.stdio[3].removeAllListeners("data");
        done(message);
      };
      const timer = setTimeout(() => finish(null), limit);
      child.stdio[3].on("data", () => timer.refresh());
      child.once("message", finish).once("exit", () => finish(null));
    });
  }
}

/**
 * Makes a judge of `what`, "kernel" or "decoder", with `count` cases. Call its `check` before the first mutant: it
 * throws unless the code without a mutant passes.
 */
export async function makeJudge(folder, what, count) {
  mkdirSync(folder, { recursive: true });
  const changed = new Map();
  await build({
    ...bundling(new Map(), false),
    entryPoints: ["scripts/mutate/judge.ts"],
    outfile: `${folder}/judge.mjs`,
  });
  const decoder = await context({
    ...bundling(changed, true),
    entryPoints: ["src/decode/tensor-decoder.ts"],
    write: false,
  });
  const judge = new Judge(`${folder}/judge.mjs`, what, String(count));
  const pass = async (mutant) => {
    const reason = await judge.judge(mutant);
    if (reason !== null) throw new Error(`judge: got "${reason}" without a mutant`);
  };
  let serial = 0;
  const bundleOf = async (file, text) => {
    changed.set(resolve(file), text);
    const { outputFiles } = await decoder.rebuild().finally(() => changed.clear());
    const path = resolve(folder, `decoder-${serial++ % 2}.mjs`);
    writeFileSync(path, outputFiles[0].text);
    return `${pathToFileURL(path).href}?${serial}`;
  };
  return {
    /** Judges a kernel, which lies in `binary`. */
    kernel: async (binary) => {
      writeFileSync(`${folder}/mutant.wasm`, binary);
      return judge.judge(`${folder}/mutant.wasm`);
    },
    /** Judges a decoder one of whose files has another text. */
    decoder: async (file, text) => judge.judge(await bundleOf(file, text)),
    check: async (binary) => {
      if (binary === undefined) return pass(await bundleOf("none", ""));
      writeFileSync(`${folder}/mutant.wasm`, binary);
      return pass(`${folder}/mutant.wasm`);
    },
    end: () => {
      judge.end();
      return decoder.dispose();
    },
  };
}
