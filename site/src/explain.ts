/** Computes what the page shows about the current tensors and boxes. */
import { type State, thresholdsOf } from "./state.ts";
import type { TensorView, RunJob } from "./worker/jobs.ts";

/**
 * Adds ranges and pictures of the tensors, and other possible interpretations. If boxes were decoded, also adds
 * candidates, heat map and times.
 */
export async function explain(state: State, run: RunJob): Promise<void> {
  const { shown, options } = state;
  const views: { [name: string]: TensorView } = {};
  for (const { id, name } of shown.tensors) views[name] = await run("viewTensor", id);
  // Assign all views at once, since each assignment draws all of them.
  shown.views = views;
  await findCandidates(state, run);
  const tensors = shown.tensors.map(({ id }) => id);
  if (tensors.length > 0) shown.possibilities = await run("possibilities", tensors, options.value);
  if (shown.found === null) return;
  shown.heat = await run("heat");
  shown.times = await run("times", thresholdsOf(state));
}

/**
 * Lists the candidates above the threshold, before suppression. Drops the list if another decoder was opened meanwhile.
 */
export async function findCandidates(state: State, run: RunJob): Promise<void> {
  const { shown } = state;
  const { opened, found } = shown;
  if (found === null) return;
  // If the job fails, keep the boxes without an explanation.
  const candidates = await run("candidates", thresholdsOf(state)).catch(() => null);
  if (opened === shown.opened) shown.candidates = candidates;
}
