/** `boxwright inspect MODEL --try PHOTO`: runs a network with each likely reading, and shows the results. */
import { basename, extname } from "node:path";
import type { DecoderOptions } from "../../config/types.ts";
import { TensorError } from "../../core/errors.ts";
import type { PartialRule } from "../../core/prepare-rule.ts";
import { createDetector } from "../../detect/detector.ts";
import type { Detector } from "../../detect/types.ts";
import type { Session } from "../../detect/session.ts";
import { load, loadUnpacked } from "../files/load.ts";
import { type Pixels, checkPackages, packagesFor, readImage } from "../images.ts";
import type { ModelInspection } from "../inspect-model.ts";
import { objectText } from "../possibility.ts";
import { preparationsOf } from "../preparations.ts";
import { runtimeOf, runtimePackage } from "../runtimes.ts";
import { type Trial, foundText, ranked, tryPage } from "../try-page.ts";
import type { Io } from "./io.ts";
import { type Values, optionsOf } from "./options.ts";
import { checkPlaces, writeNamed } from "./places.ts";
import { Progress } from "./progress.ts";
import { mostBytes, textOf } from "./values.ts";

/** Largest count of readings to try, the likeliest first. */
const MOST_READINGS = 4;

/** A reading to try: options that override the model file. */
interface Reading {
  readonly about: string;
  readonly options: DecoderOptions;
}

/** The network to try, with its inspection, config and options. */
export interface Tried {
  readonly path: string;
  readonly inspection: ModelInspection;
  /** The model's text as a config, and the command's options. */
  readonly config: unknown;
  readonly options: DecoderOptions;
}

/** Runs the network on the photo that --try names, and writes the page. Returns the trials, the likeliest first. */
export async function tryNetwork(tried: Tried, values: Values, io: Io): Promise<Trial[]> {
  const { path, inspection } = tried;
  const { model } = inspection.json;
  const photoPath = textOf(values, "try") as string;
  const out = pageOf(values, path);
  const needed = runtimePackage(model.format, path);
  const readings = readingsOf(tried);
  if (readings.length === 0)
    throw new TensorError(
      "--try: no reading of these outputs is complete. Give the options that inspect names without --try.",
    );
  await checkPlaces([["out", out]], [path, photoPath]);
  checkPackages([needed, ...packagesFor(photoPath, false)]);
  const photo = await load(photoPath, mostBytes(values));
  const pixels = await readImage(photo, photoPath);
  const runtime = await runtimeOf(model.format, path);
  const session = await runtime.open(await loadUnpacked(path, mostBytes(values)));
  try {
    const trials = await runTrials(tried, { session, readings, pixels, photoPath, io });
    await writeNamed("out", out, tryPage(`${basename(path)} on ${basename(photoPath)}`, photo, trials));
    return ranked(trials);
  } finally {
    await session.close();
  }
}

const pageOf = (values: Values, path: string): string =>
  textOf(values, "out") ?? `${basename(path, extname(path))}.try.html`;

/** Returns the trials as lines, for the terminal. */
export function trialLines(trials: readonly Trial[], values: Values, path: string): string[] {
  const isOneReading = new Set(trials.map(({ reading }) => reading)).size === 1;
  const lineOf = (trial: Trial): string =>
    `- ${foundText(trial)}: ${isOneReading ? "" : `${trial.reading}; `}${trial.preparation}` +
    (trial.found === null ? `: ${briefly(trial.notes[0])}` : "");
  const tried = trials.filter(({ found }) => found !== null);
  return [
    "tried, the likeliest first:",
    ...trials.map(lineOf),
    ...[...new Set(tried.flatMap(({ notes }) => notes))]
      .slice(0, MOST_NOTES)
      .map((note) => `note: ${briefly(note)}`),
    `pictures and lines to copy: ${pageOf(values, path)}`,
  ];
}

/** Largest number of notes to show in the terminal. The page shows all notes, each beside its trial. */
const MOST_NOTES = 3;

/** Largest length of a note in the terminal, in characters. */
const MOST_CHARACTERS = 200;

/** Returns the beginning of a note as one line. */
function briefly(note: string): string {
  const line = note.replace(/\s+/g, " ");
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}...` : line;
}

/** Returns the readings to try: the likeliest of those that need no other options. */
function readingsOf({ inspection, options }: Tried): Reading[] {
  const { decoder } = inspection.json;
  if (decoder === null) return [];
  if (decoder.kind !== "possibilities") {
    const about = decoder.kind === "plan" ? decoder.about : "as the file and the options say";
    return [{ about, options }];
  }
  return decoder.possibilities
    .filter(({ missing }) => missing.length === 0)
    .slice(0, MOST_READINGS)
    .map((found) => ({
      about: `${found.families.join(", ")}: ${found.about}`,
      options: { ...found.options, ...options },
    }));
}

interface Run {
  readonly session: Session;
  readonly readings: readonly Reading[];
  readonly pixels: Pixels;
  readonly photoPath: string;
  readonly io: Io;
}

async function runTrials(tried: Tried, { session, readings, pixels, photoPath, io }: Run): Promise<Trial[]> {
  const trials: Trial[] = [];
  const progress = new Progress(io, readings.length);
  for (const reading of readings) {
    progress.show(reading.about);
    const first = await open(tried, reading, {}, session, () => undefined).catch((error: Error) => error);
    if (first instanceof Error)
      trials.push({
        ...reading,
        reading: reading.about,
        preparation: "not run",
        isStated: false,
        lines: [],
        found: null,
        notes: [first.message],
      });
    else {
      const { prepareRule } = first.decoder;
      await first.close();
      for (const { about, rule } of preparationsOf(prepareRule)) {
        const found = await runOne(tried, reading, rule, session, pixels);
        const lines = linesFor(tried, reading.options, rule, photoPath);
        trials.push({
          reading: reading.about,
          preparation: about,
          isStated: Object.keys(rule).length === 0,
          lines,
          ...found,
        });
      }
    }
    progress.count();
  }
  progress.clear();
  return trials;
}

/** Returns a detector on the session. Closing the detector leaves the session open. */
const open = (
  { config }: Tried,
  { options }: Reading,
  prepare: PartialRule,
  session: Session,
  onNote: (note: string) => void,
): Promise<Detector> => {
  const { inputs, overlaps, feedsConstants } = session;
  const shared: Session = {
    inputs,
    overlaps,
    ...(feedsConstants && { feedsConstants }),
    createLane: (input) => session.createLane(input),
    close: () => undefined,
  };
  return createDetector({ session: shared, config }, { ...options, prepare, onNote, warmUp: 0 });
};

async function runOne(
  tried: Tried,
  reading: Reading,
  rule: PartialRule,
  session: Session,
  pixels: Pixels,
): Promise<Pick<Trial, "found" | "notes">> {
  const notes: string[] = [];
  let detector: Detector | null = null;
  try {
    detector = await open(tried, reading, rule, session, (note) => notes.push(note));
    const found = await detector.detect(pixels);
    return { found: found.copy().toArray(), notes };
  } catch (error) {
    return { found: null, notes: [(error as Error).message] };
  } finally {
    await detector?.close();
  }
}

/** Returns lines to copy for this reading: the command, if the command line has all its options, and the call. */
function linesFor(
  { path }: Tried,
  options: DecoderOptions,
  prepare: PartialRule,
  photoPath: string,
): string[] {
  const call = { ...options, ...(Object.keys(prepare).length > 0 && { prepare }) };
  const words = wordsFor({ ...options, ...prepare });
  const quote = (word: string): string =>
    /[^\w./=,:@%+-]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word;
  return [
    ...(words === null
      ? []
      : [
          ["npx boxwright run", path, photoPath, ...words, "--draw boxes"]
            .map((w, i) => (i === 1 || i === 2 ? quote(w) : w))
            .join(" "),
        ]),
    `createDetector({ model, runtime }, ${objectText(call)})`,
  ];
}

/** Returns options as words of the command line. Returns `null` if the command line lacks one of them. */
function wordsFor(options: object): string[] | null {
  const table = Object.entries(optionsOf("run"));
  const words = Object.entries(options).map(([name, value]) => {
    const [flag, option] = table.find(([word, { sets }]) => (sets ?? word) === name) ?? [];
    if (flag === undefined) return null;
    // Write a pair in the form that the help states: WxH or KxV.
    if (/^[A-Z]x[A-Z]$/.test(option?.value ?? "")) return `--${flag} ${(value as number[]).join("x")}`;
    const list = [value].flat();
    const isPlain = list.every((one) => /^[\w.:-]+$/.test(String(one)) && typeof one !== "object");
    return isPlain && list.length > 0 ? `--${flag} ${list.join(",")}` : null;
  });
  return words.includes(null) ? null : (words as string[]);
}
