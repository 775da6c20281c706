/** Checks applications with boxwright itself, in a thread: config, options, and the model file if there is one. */
import { Worker } from "node:worker_threads";
import { builtFile } from "boxwright-service/built";
import { messageOf } from "boxwright-service/errors";

export interface CheckRequest {
  /**
   * NN_config, nn_config or an NN Archive's config.json. Null: the model file itself states how to decode its outputs.
   */
  readonly config: Readonly<Record<string, unknown>> | null;
  /** Options of `createDetector`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly modelPath: string | null;
}

export interface CheckProblem {
  /** Path of the config's field, or empty if the problem has no field. */
  readonly path: string;
  readonly message: string;
}

export type CheckResult =
  /** Text from boxwright's `describe()`. */
  | { readonly description: string; readonly problems?: undefined }
  | { readonly problems: readonly CheckProblem[]; readonly description?: undefined };

/** Largest number of megabytes and of milliseconds that one check may take. */
const MOST_MB = 256;
const MOST_MS = 20_000;
/**
 * Largest number of waiting checks. One check runs at a time, since each check needs a thread and the thread's memory.
 */
const MOST_WAITING = 16;

const failed = (message: string): CheckResult => ({ problems: [{ path: "", message }] });

export class Checker {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Checks an application after the checks that wait already. */
  check(request: CheckRequest): Promise<CheckResult> {
    if (this.#waiting >= MOST_WAITING)
      return Promise.resolve(failed(`${MOST_WAITING} other checks wait already; try again soon`));
    this.#waiting++;
    const turn = this.#last.then(() => run(request)).finally(() => this.#waiting--);
    this.#last = turn;
    return turn;
  }
}

function run(request: CheckRequest): Promise<CheckResult> {
  return new Promise((resolve) => {
    const worker = new Worker(builtFile(import.meta.url, "worker.js"), {
      workerData: request,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
    });
    const end = (result: CheckResult): void => {
      clearTimeout(limit);
      resolve(result);
    };
    const limit = setTimeout(() => {
      end(failed(`the check had no answer after ${MOST_MS / 1000} s`));
      void worker.terminate();
    }, MOST_MS);
    worker.once("message", end);
    worker.once("error", (error) => end(failed(`the check failed: ${messageOf(error)}`)));
    worker.once("exit", () => end(failed("the check ended without an answer")));
  });
}
