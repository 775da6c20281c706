/** Decodes the files of a command, for `decode` and `draw`. */
import type { Decoder } from "../../decode/decoder.ts";
import { createDecoder } from "../../whole/decoder.ts";
import { type Detection, type Detections, taskFunctionsOf } from "../../decode/detections.ts";
import type { Frame } from "../../decode/frame.ts";
import type { Stats } from "../../decode/stats.ts";
import type { Description } from "../../plan/describe.ts";
import { TensorError } from "../../core/errors.ts";
import { noteOfMissingNames } from "../../decode/missing-names.ts";
import { type Input, readInputUpTo } from "../files/read.ts";
import { MissingPackage } from "../images.ts";
import { type Folders, framesIn, isFolder, photoFinder } from "./frames.ts";
import { readNetwork, selectOnly, tensorsAmong } from "./inputs.ts";
import { noteLine } from "./hints.ts";
import type { Io } from "./io.ts";
import { type CommandName, UsageError, type Values } from "./options.ts";
import { RESIZES, frameOf } from "./photo.ts";
import { wantsLabelMaps, withMasks } from "./masks.ts";
import { Progress } from "./progress.ts";
import { mostBytes, textOf } from "./values.ts";

export interface Decoded {
  /** Detections in each image of the batch. */
  readonly images: readonly Detection[][];
  readonly engine: string;
  /** Photo to which the coordinates refer. Undefined: coordinates refer to the network's input. */
  readonly frame: Frame | undefined;
  /** Lines about the network, the photo and dropped candidates, for the user. */
  readonly notes: readonly string[];
  readonly milliseconds: number;
}

/** Returns the rows. The list also gets skeleton edges and masks for drawing, which JSON omits. */
function rowsOf(detections: Detections, values: Values): Detection[] {
  if (wantsLabelMaps(values))
    throw new UsageError("--masks png is of boxwright run with --draw FOLDER. Here: --masks rle.");
  const rows = withMasks(detections, values);
  return Object.assign(
    rows,
    detections.edges && { edges: detections.edges },
    taskFunctionsOf(detections)?.mask && { mask: detections.mask.bind(detections) },
  );
}

/** Decodes tensor files by the config among the files, or by options. */
export async function decodeFiles(paths: readonly string[], values: Values): Promise<Decoded> {
  const network = await Network.open(paths, values);
  return network.decode([], values);
}

/** A network that decodes frames one by one. */
export class Network {
  readonly decoder: Decoder;
  /** Files that apply to every frame. */
  readonly #shared: readonly Input[];

  private constructor(decoder: Decoder, shared: readonly Input[]) {
    this.decoder = decoder;
    this.#shared = shared;
  }

  /** Reads the config among the files, and the tensors that apply to every frame. */
  static async open(paths: readonly string[], values: Values): Promise<Network> {
    const { inputs: shared, setup } = await readNetwork(paths, values);
    // Silence `onNote`: the command prints the notes itself.
    const options = { ...setup.options, onNote: () => undefined };
    return new Network(await createDecoder(setup.config, options), shared);
  }

  /** Decodes the tensors of the given files and of the shared files. The options name the photo. */
  async decode(paths: readonly string[], values: Values): Promise<Decoded> {
    const { decoder } = this;
    const inputs = [...this.#shared, ...(await Promise.all(paths.map(readInputUpTo(mostBytes(values)))))];
    const tensors = selectOnly(tensorsAmong(inputs, values), values);
    if (tensors.length === 0 && paths.length > 0)
      throw new TensorError("got no tensors, expected those of a frame");
    if (tensors.length === 0) throw new UsageError("no tensors are given. Pass tensor files.");
    const frame = await frameOf(values);
    const byName = Object.fromEntries(tensors.map((t) => [t.name, t]));
    const start = performance.now();
    const results = decoder.decodeBatch(byName, frame);
    const milliseconds = performance.now() - start;
    return {
      images: results.map((detections) => rowsOf(detections, values)),
      engine: decoder.engine,
      frame,
      notes: notesOf(decoder, frame, values),
      milliseconds,
    };
  }
}

/** One decoded frame of a folder. */
export interface FolderResult {
  readonly name: string;
  readonly decoded: Decoded;
  /** Path of the frame's photo, if there is one. */
  readonly photo: string | undefined;
}

/** The command that decodes folders, with its options. Notes to the user name the command's options. */
interface FolderCommand {
  readonly command: CommandName;
  readonly values: Values;
  readonly io: Io;
}

/** Decodes every frame of folders and reports frames that fail. Throws a TensorError at the end if any failed. */
export async function decodeFolders(
  { folders, shared }: Folders,
  { command, values, io }: FolderCommand,
  each: (result: FolderResult, network: Network, names: readonly string[]) => void | Promise<void>,
): Promise<void> {
  const network = await Network.open(shared, values);
  const frames = (await Promise.all(folders.map(framesIn))).flat();
  const names = frames.map(({ name }) => name);
  const photoOf = await photosOf(values);
  const progress = new Progress(io, frames.length);
  const seen = new Set<string>();
  let failed = 0;
  for (const { name, paths } of frames) {
    progress.show(name);
    try {
      const photo = photoOf(name);
      const decoded = await network.decode(paths, photo === undefined ? values : { ...values, photo });
      progress.clear();
      // Print each note once: repeating it for each frame would bury the results.
      for (const note of decoded.notes.filter((text) => !seen.has(text))) io.err(noteLine(note, command));
      decoded.notes.forEach((note) => seen.add(note));
      await each({ name, decoded, photo }, network, names);
    } catch (error) {
      progress.clear();
      if (error instanceof UsageError || error instanceof MissingPackage) throw error;
      failed++;
      io.err(`boxwright: ${paths.join(", ")}: ${(error as Error).message}\n`);
    }
    progress.count();
  }
  if (failed > 0) throw new TensorError(`${failed} of ${frames.length} frames failed.`);
}

/**
 * Returns a function that finds a frame's photo. If --photo names a folder, the photo there has the frame's name.
 */
async function photosOf(values: Values): Promise<(name: string) => string | undefined> {
  const photos = textOf(values, "photo");
  if (photos === undefined || !(await isFolder(photos))) return () => photos;
  const find = await photoFinder(photos);
  return (name) => {
    const found = find(name);
    if (found === undefined) throw new TensorError(`got no photo ${name}.png or ${name}.jpg in ${photos}`);
    return found;
  };
}

function notesOf(decoder: Decoder, frame: Frame | undefined, values: Values): string[] {
  const { json } = decoder.describe();
  const isAssumed = values["resize"] === undefined;
  const noteOfNames = noteOfMissingNames(decoder);
  return [
    ...(noteOfNames === null ? [] : [noteOfNames]),
    ...(json.kind === "plan" ? json.notes : []),
    ...(frame && isAssumed ? stretchNotes(json, frame) : []),
    ...droppedNotes(decoder.stats),
  ];
}

/** Returns a note if the photo has another aspect ratio than the input, since half of all tools pad such a photo. */
function stretchNotes(json: Description["json"], { width, height }: Frame): string[] {
  const input = json.kind === "plan" ? json.inputSize : null;
  if (input === null) return [];
  // Allow one pixel for rounding.
  const isSimilar = Math.abs(width * input[1] - height * input[0]) <= Math.max(width, height);
  return isSimilar
    ? []
    : [
        `the photo of ${width}x${height} counts as stretched to the input, ${input.join("x")}. If ` +
          `it was fitted otherwise, pass --resize: ${RESIZES.join(", ")}`,
      ];
}

/** Returns a note if the decoder dropped candidates because of a limit. Else returns none. */
function droppedNotes({ dropped: { capped } }: Stats): string[] {
  // The decoder itself adds a note about values that are not finite.
  return capped > 0
    ? [`${capped} candidates were left out: more than the limit of candidates or detections (--max)`]
    : [];
}
