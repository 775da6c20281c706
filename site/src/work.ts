/** Orders the work: changes of files run one after the other. Each change ends the decode of earlier files. */
import { createDecode, openDecoder, runModel } from "./decode.ts";
import { explain } from "./explain.ts";
import { type State, checkTexts, clearResults, messageOf } from "./state.ts";
import type { RunJob } from "./worker/jobs.ts";

/** State of the page when the visitor waits for nothing. */
const IDLE = { busy: "", isLocked: false };

/** Makes the playground's work functions. `job` runs a job in the worker. */
export function createWork(state: State, job: RunJob) {
  const { shown } = state;
  const decode = createDecode(state, job);
  let current = new AbortController();
  let changes = Promise.resolve();

  const showError = (error: unknown): void => void (shown.errors = [...shown.errors, messageOf(error)]);

  /** Makes a change of files after earlier changes, then decodes. */
  async function change(make: () => Promise<void> | void): Promise<void> {
    current.abort();
    shown.isLocked = true;
    const made = changes.then(make).catch(showError);
    changes = made;
    await made;
    // If another change has come meanwhile, that change decodes.
    if (made === changes) await rebuild();
  }

  /** Computes everything from files, config and options. Ends an earlier call, whose jobs throw. */
  async function rebuild(): Promise<void> {
    current.abort();
    const { signal } = (current = new AbortController());
    const run: RunJob = (name, ...given) => job(name, ...given).finally(() => signal.throwIfAborted());
    clearResults(state);
    try {
      checkTexts(state.inputs);
      await run(
        "keep",
        [...shown.tensors, ...(shown.model ? [shown.model] : [])].map(({ id }) => id),
      );
      if (shown.model !== null) await runModel(state, run);
      if (shown.tensors.length > 0) {
        await openDecoder(state, run);
        await decode();
      }
    } catch (error) {
      if (!signal.aborted) showError(error);
    }
    if (signal.aborted) return;
    Object.assign(shown, IDLE);
    await explain(state, run).catch((error) => {
      if (!signal.aborted) showError(error);
    });
  }

  return { decode, change, rebuild, stop: () => current.abort() };
}
