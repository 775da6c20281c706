/** The agent's side of a shadow's process: starts the process, sends it frames, and ends it after a failure. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { builtFile } from "boxwright-service/built";
import { messageOf } from "boxwright-service/errors";
import type { Problem } from "boxwright-service/schema/protocol";
import type { SeenFrame } from "../network/network.ts";
import type { FromShadow, ShadowDifference, ShadowStart } from "./message.ts";
import { COLD_FRAMES, type ShadowFrame } from "./summary.ts";

/** Milliseconds to open a version, and to compare one frame. A process that takes longer counts as hung. */
const [START_MS, FRAME_MS] = [120_000, 30_000];

export interface RunnerParts {
  readonly start: Omit<ShadowStart, "kind">;
  /** Number N: every Nth frame is compared. */
  readonly every: number;
  readonly onCompared: (frame: ShadowFrame, difference: ShadowDifference, seen: SeenFrame) => void;
  /** Called once, after a failure has ended the process. */
  readonly onFailed: (problem: Problem) => void;
  /** Largest number of milliseconds to compare one frame. */
  readonly frameMs?: number;
  /** Path of the process' script. */
  readonly file?: string;
}

const FILE = fileURLToPath(builtFile(import.meta.url, "child.js"));

export class Runner {
  readonly #parts: RunnerParts;
  readonly #child: ChildProcess;
  #needs: "outputs" | "image" | null = null;
  /** Frame that is being compared; null if there is none. */
  #pending: SeenFrame | null = null;
  #frames = 0;
  #compared = 0;
  /** Milliseconds that the shadow may still use. Every Nth frame adds the milliseconds that the agent needed for it. */
  #credit = 0;
  #limit: NodeJS.Timeout;
  #isOver = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#child = fork(parts.file ?? FILE, [], {
      ...{ serialization: "advanced", execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] },
    });
    this.#limit = this.#within(START_MS, "the version did not open");
    this.#child.on("message", (message: FromShadow) => this.#take(message));
    this.#child.once("error", (error) => this.#fail("crashed", messageOf(error)));
    this.#child.once("exit", (code, signal) =>
      this.#fail("crashed", `the process of the shadow ended with ${signal ?? `exit code ${code}`}`),
    );
    this.#child.unref();
    this.#child.channel?.unref();
    this.#send({ kind: "start", ...parts.start });
  }

  /**
   * Compares every Nth frame, if the shadow is free and has not used more time than the frames themselves. Copies the
   * data before it returns.
   */
  offer(seen: SeenFrame): void {
    if (this.#isOver || this.#needs === null || ++this.#frames % this.#parts.every !== 0) return;
    const { prepare, run, pack } = seen.times;
    const cost = prepare + run + pack;
    this.#credit = Math.min(this.#credit + cost, cost);
    if (this.#pending !== null || this.#credit <= 0) return;
    this.#pending = seen;
    this.#limit = this.#within(this.#parts.frameMs ?? FRAME_MS, "the version did not decode a frame");
    const { outputs, frame, image } = seen;
    this.#send({
      ...{ kind: "frame", outputs, frame, before: prepare + run },
      image: this.#needs === "image" ? image : null,
    });
  }

  /** Ends the process without a failure. */
  close(): void {
    this.#isOver = true;
    clearTimeout(this.#limit);
    this.#pending = null;
    this.#child.kill("SIGKILL");
  }

  #send(message: unknown): void {
    // Ignore the error of a process that has ended: its exit is reported separately.
    this.#child.send(message as object, () => undefined);
  }

  #take(message: FromShadow): void {
    if (this.#isOver) return;
    clearTimeout(this.#limit);
    if (message.kind === "failed") return this.#fail("version", message.message);
    if (message.kind === "ready") return void (this.#needs = message.needs);
    const seen = this.#pending!;
    this.#pending = null;
    // Do not charge the first frames, which are slow until the code is compiled.
    if (++this.#compared > COLD_FRAMES) this.#credit -= message.took;
    this.#parts.onCompared(message.frame, message.difference, seen);
  }

  #within(milliseconds: number, what: string): NodeJS.Timeout {
    return setTimeout(() => this.#fail("hung", `${what} within ${milliseconds / 1000} s`), milliseconds).unref();
  }

  #fail(code: string, message: string): void {
    if (this.#isOver) return;
    this.close();
    this.#parts.onFailed({ code, message: message.slice(0, 1000) });
  }
}
