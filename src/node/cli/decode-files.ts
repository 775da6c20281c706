/** Decodes the files of a command, for `decode` and `draw`. */
import { type Decoder, createDecoder } from "../../decode/decoder.ts";
import type { Detection } from "../../decode/detections.ts";
import type { Frame } from "../../decode/frame.ts";
import type { Stats } from "../../decode/stats.ts";
import type { Description } from "../../plan/describe.ts";
import { readInputUpTo } from "../files/read.ts";
import { checkHasNetwork, configAmong, selectOnly, tensorsAmong } from "./inputs.ts";
import { UsageError, type Values } from "./options.ts";
import { RESIZES, frameOf } from "./photo.ts";
import { setupOf } from "./setup.ts";
import { mostBytes } from "./values.ts";

export interface Decoded {
  /** Detections of each image of the batch. */
  readonly images: readonly Detection[][];
  readonly engine: string;
  /** Photo that the detections are relative to; undefined: to the network input. */
  readonly frame: Frame | undefined;
  /** Lines for the user about the network, the photo and dropped candidates. */
  readonly notes: readonly string[];
  readonly milliseconds: number;
}

/** Decodes tensor files by the config among the files, or by options. */
export async function decodeFiles(paths: readonly string[], values: Values): Promise<Decoded> {
  const inputs = await Promise.all(paths.map(readInputUpTo(mostBytes(values))));
  const config = configAmong(inputs);
  const tensors = selectOnly(tensorsAmong(inputs, values), values);
  checkHasNetwork(config, values);
  if (tensors.length === 0) throw new UsageError("no tensors are given. Pass tensor files.");

  const setup = await setupOf(values, config?.text);
  const decoder = await createDecoder(setup.config, setup.options);
  const frame = await frameOf(values);
  const byName = Object.fromEntries(tensors.map((t) => [t.name, t]));
  const start = performance.now();
  const results = decoder.decodeBatch(byName, frame);
  const milliseconds = performance.now() - start;
  return {
    images: results.map((detections) => detections.toArray()),
    engine: decoder.engine,
    frame,
    notes: notesOf(decoder, frame, values),
    milliseconds,
  };
}

function notesOf(decoder: Decoder, frame: Frame | undefined, values: Values): string[] {
  const { json } = decoder.describe();
  const isAssumed = values["resize"] === undefined;
  return [
    ...(json.kind === "plan" ? json.notes.map((note) => `note: ${note}`) : []),
    ...(frame && isAssumed ? stretchNotes(json, frame) : []),
    ...droppedNotes(decoder.stats),
  ];
}

/** Returns a note if the photo has other proportions than the input. Half of the tools pad such a photo. */
function stretchNotes(json: Description["json"], { width, height }: Frame): string[] {
  const input = json.kind === "plan" ? json.inputSize : null;
  if (input === null) return [];
  // Rounding may change a side by a pixel.
  const isSimilar = Math.abs(width * input[1] - height * input[0]) <= Math.max(width, height);
  return isSimilar
    ? []
    : [
        `note: the photo of ${width}x${height} counts as stretched to the input, ${input.join("x")}. If it was fitted otherwise, pass --resize: ${RESIZES.join(", ")}`,
      ];
}

/** Returns a line for each kind of candidates that the decoder dropped. */
function droppedNotes({ candidates, dropped: { capped, notFinite } }: Stats): string[] {
  return [
    ...(capped > 0
      ? [`${capped} candidates were left out: more than the limit of candidates or detections (--max)`]
      : []),
    // If there is no other candidate, a note of the decoder says so.
    ...(notFinite > 0 && candidates > 0
      ? [`${notFinite} candidates were dropped: their box or score is not a finite number`]
      : []),
  ];
}
