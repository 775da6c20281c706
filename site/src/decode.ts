/** From files to boxes: runs the model, opens a decoder for the tensors, and decodes. */
import type { Frame } from "boxwright";
import { json } from "./code.ts";
import { isStated } from "@repo/src/config/model-config.ts";
import type { Possibility } from "@repo/src/node/possibility.ts";
import { pageWords } from "./page-words.ts";
import { type State, messageOf, thresholdsOf } from "./state.ts";
import type { RunJob } from "./worker/jobs.ts";

/** Returns the first of the likeliest possibilities that needs no further input. */
const firstComplete = (all: readonly Possibility[]): Possibility | undefined =>
  all.find(({ missing, likelihood }) => missing.length === 0 && likelihood === all[0].likelihood);

/** Runs the model on the photo. The page then shows its outputs as tensors. */
export async function runModel(state: State, run: RunJob): Promise<void> {
  const { inputs, shown, stages, config, options } = state;
  const { id, name, format, missing } = shown.model!;
  const possibilities = await run("possibilitiesOfModel", id, options.value);
  shown.possibilities = possibilities;
  shown.tensors = [];
  if (format !== "onnx")
    throw new Error(
      `${name}: boxwright reads this file, but only ONNX files run on this page. Drop the output tensors too.`,
    );
  if (shown.photo === null) return;
  const needed = missing.filter(({ path }) => !isStated(path, (option) => option in options.value));
  if (needed.length > 0 && config.value === null && shown.taken === null) {
    const first = firstComplete(possibilities);
    if (first === undefined)
      throw new Error(needed.map(({ path, message }) => `${path}: ${message}`).join(" "));
    shown.taken = first;
    inputs.optionsText = JSON.stringify({ ...options.value, ...first.options });
  }
  shown.busy = "Step 1 of 3: downloading ONNX Runtime";
  await run("loadRuntime");
  shown.busy = "Step 2 of 3: compiling the network";
  await run("compile", id, options.value, config.value);
  shown.busy = "Step 3 of 3: running the network";
  const ran = await run("run", shown.photo.bitmap);
  Object.assign(stages, { prepare: ran.prepare, run: ran.run });
  inputs.resize = ran.resize;
  shown.tensors = ran.tensors;
}

/** Opens a decoder for the tensors. Without a config, uses the likeliest interpretation of their shapes as config. */
export async function openDecoder(state: State, run: RunJob): Promise<void> {
  const { inputs, shown, config, options } = state;
  shown.busy = "Decoding";
  const tensors = shown.tensors.map(({ id }) => id);
  if (config.value === null && shown.model === null) {
    const possibilities = await run("possibilities", tensors, options.value);
    shown.possibilities = possibilities;
    const first = firstComplete(possibilities);
    if (first === undefined)
      throw new Error(
        possibilities.length === 0
          ? "No family reads these shapes. Drop a config file, or the other tensors of the network."
          : "These shapes need more than a family. Choose a reading below, complete its config, and decode.",
      );
    shown.taken = first;
    inputs.configText = json(first.options);
  }
  shown.opened = await run("open", {
    tensors,
    model: shown.model?.id ?? null,
    config: config.value,
    options: options.value,
    frame: frameOf(state),
  });
  const { confidence, iou } = shown.opened;
  if (inputs.adoptsThresholds && confidence !== null) Object.assign(inputs, { confidence, iou });
  inputs.adoptsThresholds = false;
}

function frameOf({ inputs, shown }: State): Frame | undefined {
  if (shown.photo === null || inputs.resize === "none") return undefined;
  const { width, height } = shown.photo.bitmap;
  return { width, height, resize: inputs.resize as never };
}

/** Returns a function that decodes. All calls during a decode together cause one further decode. */
export function createDecode(state: State, run: RunJob): () => Promise<void> {
  let decoding: Promise<void> | null = null;
  let isStale = false;
  return () => {
    isStale = true;
    decoding ??= (async () => {
      while (isStale) {
        isStale = false;
        await decodeOnce(state, run);
      }
      decoding = null;
    })();
    return decoding;
  };
}

/** Decodes with the sliders' thresholds. Drops the result if another decoder was opened meanwhile. */
async function decodeOnce(state: State, run: RunJob): Promise<void> {
  const { shown, stages, size } = state;
  const { opened } = shown;
  if (opened === null) return;
  try {
    const found = await run("decode", thresholdsOf(state), size.value);
    if (opened !== shown.opened) return;
    shown.found = found;
    stages.decode = found.ms;
    if (found.notes.length > 0) shown.notes = [...shown.notes, ...found.notes.map(pageWords)];
  } catch (error) {
    if (opened !== shown.opened) return;
    shown.found = null;
    shown.errors = [messageOf(error)];
  }
  shown.decodes++;
}
