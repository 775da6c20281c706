/** `boxwright run`: runs a model file on photos, and writes the detections. */
import { knownOf } from "../../core/json.ts";
import { createHash } from "node:crypto";
import { extname, join } from "node:path";
import type { Model } from "../../config/model/types.ts";
import type { DecoderOptions } from "../../config/types.ts";
import { ConfigError, TensorError } from "../../core/errors.ts";
import type { PartialRule } from "../../core/prepare-rule.ts";
import { createDetector } from "../../detect/detector.ts";
import type { Detector } from "../../detect/types.ts";
import type { Drawn } from "../../picture/drawn.ts";
import { drawSvg } from "../../picture/svg.ts";
import { loadUnpacked } from "../files/load.ts";
import { readModelFile } from "../files/model-file.ts";
import { decodeText } from "../files/raw.ts";
import { inspectModel } from "../inspect-model.ts";
import { familyWords, isAmong, likeliest } from "../next-step.ts";
import { MissingPackage, checkPackages, packagesFor, readImage, writeJpeg } from "../images.ts";
import { rasterPixels, rasterise } from "../raster.ts";
import { runtimeOf, runtimePackage } from "../runtimes.ts";
import { type ImageFile, imageFiles } from "./image-files.ts";
import { noteLine, withHints } from "./hints.ts";
import type { Io } from "./io.ts";
import { Journal, type Settings } from "./journal.ts";
import { labelPng, wantsLabelMaps, wantsMasks, withMasks } from "./masks.ts";
import { UsageError, type Values } from "./options.ts";
import type { Parsed } from "./parse.ts";
import { checkPlaces, writeBelow } from "./places.ts";
import { Progress, clearLine } from "./progress.ts";
import { type Format, type ImageResult, checkCocoNames, formatOf, formatter } from "./results.ts";
import { setupOf } from "./setup.ts";
import { mostBytes, numbersOf, oneOf, textOf } from "./values.ts";

export async function runNetwork({ positionals, values }: Parsed, io: Io): Promise<void> {
  const [modelPath, ...words] = positionals;
  if (modelPath === undefined)
    throw new UsageError("no network is given. Name a model file (.onnx, .tflite), then photos.");
  if (words.length === 0)
    throw new UsageError(
      "no photos are given. Name files, folders or patterns after the model file, or - for standard input.",
    );
  const format = formatOf(textOf(values, "format"), "table");
  const out = textOf(values, "out");
  if (values["resume"] && out === undefined)
    throw new UsageError("--resume needs the file that results go to. Add --out FILE.");
  const files = await imageFiles(words, io.stdin ?? (async () => new Uint8Array()));
  if (wantsLabelMaps(values) && values["draw"] === undefined)
    throw new UsageError("--masks png needs the folder that label maps go to. Add --draw FOLDER.");
  const drawings = drawingsOf(textOf(values, "draw"), files);
  const prepare = prepareOf(values);
  await checkPlaces(
    [["out", out], ...drawings.values()].map(
      (path) => (typeof path === "string" ? ["draw", path] : path) as [string, string],
    ),
    [modelPath, textOf(values, "config"), ...files.map(({ path }) => path)],
  );
  const packages = files.flatMap(({ path, place }) => packagesFor(place, drawings.has(path)));
  const { detector, advise } = await openNetwork(modelPath, values, { prepare, packages, io });
  try {
    checkCocoNames(format, detector.decoder.config);
    const journal =
      out === undefined
        ? null
        : await Journal.open(out, await settingsOf(detector, modelPath, values), values["resume"] === true);
    await runAll(detector, { files, drawings, journal, format, io, values, advise });
  } finally {
    await detector.close();
  }
}

/** Returns the settings that affect the results. `--resume` refuses a journal with other settings. */
async function settingsOf({ decoder }: Detector, modelPath: string, values: Values): Promise<Settings> {
  const model = createHash("sha256").update(await loadUnpacked(modelPath, mostBytes(values)));
  return {
    "network file": model.digest("hex"),
    "config or threshold": decoder.configHash,
    "preparation of photos": JSON.stringify(decoder.prepareRule),
    "--draw": textOf(values, "draw") ?? null,
    "--masks": wantsMasks(values) ? (textOf(values, "masks") ?? null) : null,
  };
}

function drawingsOf(folder: string | undefined, files: readonly ImageFile[]): Map<string, string> {
  const drawings = new Map<string, string>();
  if (folder === undefined) return drawings;
  const taken = new Map<string, string>();
  for (const { path, place } of files) {
    const drawing = join(folder, place);
    const other = taken.get(drawing);
    if (other !== undefined)
      throw new UsageError(
        `--draw: ${other} and ${path} would both be drawn to ${drawing}. Name the folder that holds both, ` +
          "or run them one by one.",
      );
    taken.set(drawing, path);
    drawings.set(path, drawing);
  }
  return drawings;
}

interface Network {
  readonly detector: Detector;
  /** Adds to an error the family that the network's shapes resemble. */
  readonly advise: (error: Error) => Error;
}

/** Opens the network with the runtime for its format. First throws an error that lists all missing packages. */
async function openNetwork(
  path: string,
  values: Values,
  { prepare, packages, io }: { prepare: PartialRule; packages: readonly string[]; io: Io },
): Promise<Network> {
  const bytes = await loadUnpacked(path, mostBytes(values));
  const model = await readModelFile(bytes, path);
  const needed = runtimePackage(model.format, path);
  const configPath = textOf(values, "config");
  const file =
    configPath === undefined
      ? JSON.stringify(model)
      : decodeText(await loadUnpacked(configPath, mostBytes(values)), configPath);
  const { config, options } = await setupOf(values, file);
  checkPackages([needed, ...packages]);
  const runtime = await runtimeOf(model.format, path);
  const onNote = (note: string): void => {
    clearLine(io);
    io.err(noteLine(note, "run"));
  };
  const advise = configPath === undefined ? adviserOf(model, path, options) : (error: Error) => error;
  const opening = createDetector({ model: bytes, runtime, config }, { ...options, prepare, onNote });
  return {
    detector: await opening.catch((error: Error) => {
      throw advise(error);
    }),
    advise,
  };
}

/** Returns a function that adds the likeliest family to an error about a missing or probably wrong family. */
function adviserOf(model: Model, path: string, { family, ...options }: DecoderOptions): Network["advise"] {
  return (error) => {
    if (!(error instanceof ConfigError || error instanceof TensorError)) return error;
    const needsFamily = error.options.some((hint) => hint.option === "family");
    if (family === undefined && !needsFamily) return error;
    const found = likeliest(inspectModel(model, [], options, () => null).json);
    const words = familyWords(found, path, model);
    if (words === null) return error;
    if (family === undefined) return Object.assign(error, { familyWords: words });
    const isOther = new Set(found.map((one) => one.options.family)).size === 1 && !isAmong(family, found);
    if (isOther) error.message += `\nThe shapes look like those of another family: ${words}`;
    return error;
  };
}

/** Reads the options that say how photos are prepared. */
function prepareOf(values: Values): PartialRule {
  const channelsOf = (option: string, one: string, isRight: (x: number) => boolean) => {
    const expected = `${one}, or three separated by commas`;
    const isList = (list: readonly number[]) => [1, 3].includes(list.length) && list.every(isRight);
    const list = numbersOf(values, option, expected, isList);
    return list?.length === 1 ? list[0] : list;
  };
  const mean = channelsOf("mean", "one number", () => true);
  const std = channelsOf("std", "one number above 0", (x) => x > 0);
  const pad = channelsOf("pad", "one number in 0..255", (x) => x >= 0 && x <= 255);
  const resize = oneOf(values, "resize", ["letterbox", "letterbox-topleft", "stretch", "crop"]);
  const order = oneOf(values, "order", ["RGB", "BGR", "GRAY"]);
  const resample = oneOf(values, "resample", ["bilinear", "area", "nearest", "pillow", "cubic"]);
  return knownOf({ resize, order, resample, pad, mean, std });
}

interface Task {
  readonly files: readonly ImageFile[];
  readonly drawings: ReadonlyMap<string, string>;
  /** Journal for the results; `null`: results are printed. */
  readonly journal: Journal | null;
  readonly format: Format;
  readonly io: Io;
  readonly values: Values;
  readonly advise: Network["advise"];
}

const GO_ON = "The same command with --resume goes on from there.";
const KEEP = "With --out FILE a run that is stopped can go on.";

/** Runs the network on every photo. Reports a photo that fails, and continues with the next photo. */
async function runAll(
  detector: Detector,
  { files, drawings, journal, format, io, values, advise }: Task,
): Promise<void> {
  const { labels } = detector.decoder.config;
  const printer = formatter(
    format,
    labels,
    files.map(({ path }) => path),
  );
  const todo = journal ? await todoOf(journal, files, io) : files;
  const progress = new Progress(io, todo.length);
  let done = 0;
  const stopListening = io.onInterrupt?.(() => {
    progress.clear();
    io.err(`boxwright: stopped after ${done} of ${todo.length} images. ${journal ? GO_ON : KEEP}\n`);
  });
  if (!journal) io.out(printer.begin);
  let failed = 0;
  let printed = 0;
  for (const file of todo) {
    progress.show(file.path);
    try {
      // Take the stamp before reading: if the file is replaced in between, a resumed run reads it again.
      const stamp = journal ? await file.stamp() : null;
      const result = await runOne(detector, file, drawings.get(file.path), values);
      progress.clear();
      if (journal) await journal.add(result, stamp);
      else io.out(printer.of(result, printed++));
    } catch (error) {
      progress.clear();
      // Stop here: without the package, no other image can be read either.
      if (error instanceof MissingPackage) throw error;
      failed++;
      const given = Object.keys(values).map((name) => `--${name}`);
      io.err(`boxwright: ${withHints(advise(error as Error), "run", given)}\n`);
    }
    progress.count();
    done++;
  }
  stopListening?.();
  if (journal) await journal.finish(format, labels, failed === 0);
  else io.out(printer.end);
  if (failed > 0)
    throw new TensorError(
      `${failed} of ${files.length} images failed.${journal ? " With --resume only these are run again." : ""}`,
    );
}

/** Returns the photos without a result, or whose file was replaced. Reports how many photos are already done. */
async function todoOf(journal: Journal, files: readonly ImageFile[], io: Io): Promise<readonly ImageFile[]> {
  let replaced = 0;
  for (const { path, stamp } of files)
    if (journal.has(path) && journal.forgetReplaced(path, await stamp())) replaced++;
  const todo = files.filter(({ path }) => !journal.has(path));
  if (replaced > 0)
    io.err(`boxwright: ${replaced} of ${files.length} images were replaced and are run again\n`);
  if (todo.length < files.length)
    io.err(`boxwright: ${files.length - todo.length} of ${files.length} images are done already\n`);
  return todo;
}

async function runOne(
  detector: Detector,
  file: ImageFile,
  drawing: string | undefined,
  values: Values,
): Promise<ImageResult> {
  const bytes = await file.read();
  const pixels = await readImage(bytes, file.path);
  const result = await detector.detect(pixels).catch((error: Error) => {
    error.message = `${file.path}: ${error.message}`;
    throw error;
  });
  const detections = withMasks(result, values);
  if (drawing !== undefined) {
    await drawTo(drawing, bytes, result);
    if (wantsLabelMaps(values)) await writeBelow("draw", `${drawing}.mask.png`, labelPng(result));
  }
  const { width, height } = pixels;
  return { image: file.path, width, height, output_format: "detection", detections };
}

async function drawTo(path: string, photo: Uint8Array, detections: Iterable<Drawn>): Promise<void> {
  const svg = drawSvg(photo, detections);
  const isPng = extname(path).toLowerCase() === ".png";
  const picture = isPng ? await rasterise(svg) : await writeJpeg(await rasterPixels(svg));
  await writeBelow("draw", path, picture);
}
