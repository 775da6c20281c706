/**
 * Starts the agent, and tries new versions. The launcher belongs to the installed package and is never updated itself.
 * It keeps a new version only if the agent stays healthy. Otherwise it starts the earlier version again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { compareVersions } from "boxwright-service/release";
import {
  type LaunchState,
  type Version,
  folderOf,
  mainOf,
  readState,
  stateFile,
  versionsIn,
  writeState,
} from "./launch-state.ts";
import { type Told, judge } from "./trial.ts";

/** Number of starts after which a version on trial fails: it crashes the machine, or never gets healthy. */
const MOST_TRIES = 3;
/** Milliseconds between two checks of a version on trial. */
const LOOK_EVERY = 250;
/** Milliseconds that a process may take to end. */
const GRACE = 20_000;
/** Number of last characters of standard error that are kept, to explain why a version ended. */
const KEPT_TEXT = 2000;

/** The agent's request to try a version that it has unpacked and flushed. */
export interface SwitchWish extends Version {
  readonly kind: "switch";
}
export type Message = (Told & { readonly kind: "told" }) | SwitchWish;

export interface LauncherOptions {
  /** State folder of the agent. */
  readonly state: string;
  /** Arguments of the agent. */
  readonly args: readonly string[];
  /** Path of the installed command, and its version. */
  readonly main: string;
  readonly version: string;
  /** Milliseconds for which a new version must stay healthy. */
  readonly healthy: number;
  readonly write: (text: string) => void;
}

/** Why a process ended: by itself, to let a new version start, or because its trial failed. */
type End =
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: string | null; readonly said: string }
  | { readonly kind: "switch"; readonly wish: SwitchWish; readonly tookFrames: boolean }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

export class Launcher {
  readonly #options: LauncherOptions;
  readonly #versions: string;
  #state: LaunchState;
  #child: ChildProcess | null = null;
  #isEnding = false;

  constructor(options: LauncherOptions) {
    this.#options = options;
    this.#versions = versionsIn(options.state);
    this.#state = readState(this.#versions);
    // Drop the kept version if a person has installed a newer package.
    if (this.#state.current && compareVersions(options.version, this.#state.current.version) >= 0)
      this.#change({ ...this.#state, current: null });
    this.#tidy();
  }

  /** Deletes unused versions and incomplete folders, which a power failure may leave. */
  #tidy(): void {
    const { current, trial } = this.#state;
    const kept = [current?.version, trial?.version, basename(stateFile(this.#versions))];
    for (const version of existsSync(this.#versions) ? readdirSync(this.#versions) : [])
      if (!kept.includes(version)) this.#remove({ version, id: "" });
  }

  /** Runs the agent until it ends. Returns its exit code. */
  async run(): Promise<number> {
    for (;;) {
      const trial = this.#countTry();
      const end = await this.#runOnce(trial ?? this.#state.current, trial !== null);
      if (end.kind === "switch") this.#beginTrial(end.wish, end.tookFrames);
      else if (end.kind === "failed") this.#endTrial(end.code, end.message);
      else if (this.#isEnding || !this.#state.trial || end.code === 0) return end.code ?? 1;
      else this.#endTrial("ended", `it ended with ${end.code ?? end.signal}: ${end.said.trim() || "without a word"}`);
    }
  }

  /** Passes a signal to the agent. The launcher ends when the agent does. */
  end(signal: NodeJS.Signals): void {
    this.#isEnding = true;
    this.#child?.kill(signal);
  }

  /** Returns the version on trial, or null. Counts its start in advance, since the start may crash the machine. */
  #countTry(): Version | null {
    const { trial } = this.#state;
    if (!trial) return null;
    if (trial.tries >= MOST_TRIES) {
      this.#endTrial("restarts", `it was started ${trial.tries} times, and was never healthy for long enough`);
      return null;
    }
    this.#change({ ...this.#state, trial: { ...trial, tries: trial.tries + 1 } });
    return trial;
  }

  #beginTrial({ version, id }: SwitchWish, expectsFrames: boolean): void {
    this.#log(`version ${version} is tried`);
    this.#change({ ...this.#state, trial: { version, id, tries: 0, expectsFrames } });
  }

  #endTrial(code: string, message: string): void {
    const { trial, current } = this.#state;
    if (!trial) return;
    const { version, id } = trial;
    this.#log(`version ${version} failed: ${message}. ${current?.version ?? this.#options.version} runs again`);
    this.#change({ current, trial: null, failed: { version, id, code, message: message.slice(0, 900) } });
    this.#remove(trial);
  }

  #keep(): void {
    const { trial, current } = this.#state;
    if (!trial) return;
    const { version, id } = trial;
    this.#log(`version ${version} is healthy and kept`);
    this.#change({ current: { version, id }, trial: null, failed: null });
    if (current) this.#remove(current);
  }

  #log(message: string): void {
    this.#options.write(`launcher: ${message}\n`);
  }

  #change(state: LaunchState): void {
    writeState(this.#versions, state);
    this.#state = state;
  }

  /** Deletes an unused version. Ignores errors, since leftovers only take up space. */
  #remove(version: Version): void {
    try {
      rmSync(folderOf(this.#versions, version), { recursive: true, force: true });
    } catch (error) {
      this.#log(`version ${version.version} cannot be deleted: ${String(error)}`);
    }
  }

  #runOnce(version: Version | null, isTrial: boolean): Promise<End> {
    const { args, main, healthy, write } = this.#options;
    const place = version === null ? main : mainOf(folderOf(this.#versions, version));
    const child = spawn(process.execPath, [...process.execArgv, place, ...args], {
      stdio: ["inherit", "inherit", "pipe", "ipc"],
      env: { ...process.env, BOXWRIGHT_LAUNCHER: this.#versions },
    });
    this.#child = child;
    if (this.#isEnding) child.kill("SIGTERM");
    let said = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      write(text);
      said = (said + text).slice(-KEPT_TEXT);
    });
    const since = performance.now();
    let told: Told | null = null;
    let end: End | null = null;
    const stop = (why: End): void => {
      if (end !== null || this.#isEnding) return;
      end = why;
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), GRACE).unref();
    };
    child.on("message", (message: Message) => {
      if (message.kind === "told") told = message;
      else if (this.#state.trial === null) stop({ kind: "switch", wish: message, tookFrames: (told?.frames ?? 0) > 0 });
    });
    const look = (): void => {
      const { trial } = this.#state;
      if (!trial) return;
      const verdict = judge(told, performance.now() - since, { healthy, expectsFrames: trial.expectsFrames });
      if (verdict.kind === "keep") this.#keep();
      else if (verdict.kind === "fail") stop(verdict && { ...verdict, kind: "failed" });
    };
    const timer = isTrial ? setInterval(look, LOOK_EVERY) : null;
    return new Promise((resolve) => {
      child.once("error", (error) => this.#log(`the agent cannot be started: ${error.message}`));
      child.once("close", (code, signal) => {
        clearInterval(timer ?? undefined);
        resolve(end ?? { kind: "ended", code, signal, said });
      });
    });
  }
}
