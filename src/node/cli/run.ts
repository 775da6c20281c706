/** The commands of `boxwright`, without a process: words in, text out, exit code back. */
import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { isRefusal } from "../../core/errors.ts";
import { createDecoder } from "../../decode/decoder.ts";
import { toPixels, type Detection } from "../../decode/detections.ts";
import { DrawError, drawSvg, imageInfo, rasterise, type Drawn } from "../../picture/draw.ts";
import { readInput, type Input } from "../files.ts";
import { inspect } from "../inspect.ts";
import { inspectModel, modelIn } from "../inspect-model.ts";
import { isRecord, showJson } from "../../core/json.ts";
import { compile } from "./compile.ts";
import { HELP } from "./help.ts";
import {
  COMMANDS,
  FRAME,
  NETWORK,
  UsageError,
  checkPlaces,
  dataIn,
  eachOnce,
  headOf,
  parseShape,
  readNamed,
  selected,
  setupOf,
  sizeOf,
  tensorsOf,
  theConfig,
  wholeOf,
  writeNamed,
  type Values,
} from "./options.ts";
import { table } from "./table.ts";
import { parseWords, withFlags } from "./words.ts";
import type { Description } from "../../plan/describe.ts";
import type { Stats } from "../../decode/stats.ts";
import type { TensorHead } from "../files/safetensors.ts";
import type { Io } from "./io.ts";

const DONE = 0;
const REFUSED = 1;
const USAGE = 2;

type Command = (positionals: string[], values: Values, io: Io) => Promise<void>;

const isCommand = (name: string): name is keyof typeof COMMANDS => Object.hasOwn(COMMANDS, name);

export async function run(argv: readonly string[], io: Io): Promise<number> {
  const [name = "", ...words] = argv;
  try {
    if (name === "--version" || name === "-V") io.out(`${await version()}\n`);
    else if (name === "--help" || name === "-h" || (name === "help" && words.length === 0)) io.out(HELP[""]);
    else if (name === "help" && Object.hasOwn(COMMANDS, words[0])) io.out(HELP[words[0]]);
    else if (isCommand(name)) await runCommand(name, words, io);
    else
      throw new UsageError(
        `got ${name === "" ? "no command" : `command ${showJson(name === "help" ? words[0] : name)}`}, expected decode, draw, inspect or compile`,
      );
    return DONE;
  } catch (e) {
    const error = e as Error & { code?: string };
    if (error instanceof UsageError) {
      io.err(`boxwright: ${error.message}\nTry: boxwright ${isCommand(name) ? `${name} ` : ""}--help\n`);
      return USAGE;
    }
    // The library and the system (a folder that is not there) refuse in one message. The rest is a fault of ours: print the stack.
    const isRefused = isRefusal(error) || error instanceof DrawError || typeof error.code === "string";
    const message = isRefused ? error.message : (error.stack ?? String(e));
    io.err(`boxwright: ${isRefused && isCommand(name) ? withFlags(error, name, words) : message}\n`);
    return REFUSED;
  }
}

async function runCommand(name: keyof typeof COMMANDS, words: string[], io: Io): Promise<void> {
  const { values, positionals } = parseWords(name, words);
  if (values["help"]) io.out(HELP[name]);
  else await commands[name](positionals, values, io);
}

/** package.json stands three folders above this file in the sources, one above the bundle. */
async function version(): Promise<string> {
  for (const path of ["../package.json", "../../../package.json"]) {
    const json: unknown = JSON.parse(
      await readFile(new URL(path, import.meta.url), "utf8").catch(() => "null"),
    );
    if (isRecord(json) && json["name"] === "boxwright") return String(json["version"]);
  }
  return "unknown";
}

const commands: Record<keyof typeof COMMANDS, Command> = {
  async decode(positionals, values, io) {
    const { images, engine, said, milliseconds } = await decodeFiles(positionals, values);
    for (const line of said) io.err(`boxwright: ${line}\n`);
    if (values["json"]) {
      const lists = images.map((detections) => ({ output_format: "detection", detections }));
      io.out(`${JSON.stringify(lists.length === 1 ? lists[0] : lists, null, 2)}\n`);
      return;
    }
    const size = await frameSize(values);
    images.forEach((detections, i) => {
      if (images.length > 1) io.out(`image ${i}\n`);
      if (detections.length > 0) io.out(detectionTable(detections, size));
    });
    const count = images.reduce((n, d) => n + d.length, 0);
    io.out(
      `${count} ${count === 1 ? "detection" : "detections"}, engine ${engine}, ${milliseconds.toFixed(2)} ms (first call)\n`,
    );
  },

  async draw(positionals, values, io) {
    const photoPath = values["photo"] as string | undefined;
    if (photoPath === undefined)
      throw new UsageError("--photo: got nothing, expected the PNG or JPEG to draw on");
    const outs = (values["out"] as string[] | undefined) ?? [
      `${basename(photoPath, extname(photoPath))}.boxes.svg`,
    ];
    for (const out of outs)
      if (!/\.(svg|png)$/i.test(out))
        throw new UsageError(`--out: got ${showJson(out)}, expected a name that ends in .svg or .png`);
    const read = ["detections", "labels", "priors", "font"].map((option) => values[option]);
    await checkPlaces(
      outs.map((out) => ["out", out]),
      [photoPath, ...read, ...positionals],
    );
    const photo = await readNamed("photo", photoPath);
    imageInfo(photo, photoPath); // before any decoding: a wrong photo is the cheaper error

    const detections = await detectionsToDraw(positionals, values, io);
    const svg = drawSvg(photo, detections, {
      title: `${basename(photoPath)}: ${detections.length} detections`,
    });
    for (const out of outs) {
      const png = /\.png$/i.test(out);
      const width = wholeOf(values, "width", 1);
      const font = values["font"] as string | undefined;
      const picture = png ? await rasterise(svg, { ...(width && { width }), ...(font && { font }) }) : svg;
      await writeNamed("out", out, picture);
      io.out(`${out}: ${detections.length} ${detections.length === 1 ? "detection" : "detections"}\n`);
    }
  },

  async inspect(positionals, values, io) {
    const heads: TensorHead[] = [];
    const inputs: Input[] = [];
    for (const word of positionals) {
      const head = parseShape(word, heads.length);
      if (head) heads.push(head);
      else inputs.push(await readInput(word).catch((e: Error) => orShape(word, e)));
    }
    const config = theConfig(inputs);
    const given = tensorsOf(inputs, values);
    const all = selected([...heads, ...given.map(headOf)], values);
    eachOnce(all);
    if (!config && all.length === 0 && values["family"] === undefined)
      throw new UsageError(
        "got nothing to look at, expected a config, an archive, tensor files or shapes such as output0:1x84x8400:f32",
      );
    const setup = await setupOf(values, config?.text);
    const model = modelIn(setup.config);
    const { text, json } = model
      ? inspectModel(model, all, setup.options, dataIn(given))
      : inspect(setup.config, all, setup.options, dataIn(given));
    io.out(values["json"] ? `${JSON.stringify(json, null, 2)}\n` : text.replace(/\n*$/, "\n"));
  },

  compile,
};

/** A shape that is written otherwise is taken for a file: where there is none, both are said. */
function orShape(word: string, e: Error): never {
  if ((e.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT" && e.message.startsWith(`${word}: `))
    e.message += ", or a shape, NAME:1x84x8400";
  throw e;
}

interface Decoded {
  images: Detection[][];
  engine: string;
  /** What the user should know beside the detections. */
  said: string[];
  milliseconds: number;
}

async function decodeFiles(positionals: string[], values: Values): Promise<Decoded> {
  const inputs = await Promise.all(positionals.map(readInput));
  const config = theConfig(inputs);
  const tensors = selected(tensorsOf(inputs, values), values);
  if (!config && values["family"] === undefined)
    throw new UsageError("got no config, expected a config file or archive, or --family and --classes");
  if (tensors.length === 0) throw new UsageError("got no tensors, expected tensor files");

  const setup = await setupOf(values, config?.text);
  const decoder = await createDecoder(setup.config, setup.options);
  const size = await frameSize(values);
  const frame = size && { width: size[0], height: size[1], resize: resizeOf(values) };
  const byName = Object.fromEntries(tensors.map((t) => [t.name, t]));
  const start = performance.now();
  const lists = decoder.decodeBatch(byName, frame);
  const milliseconds = performance.now() - start;
  const description = decoder.describe();
  return {
    images: lists.map((list) => list.toArray()),
    engine: decoder.engine,
    said: [
      ...notesOf(description),
      ...(size && values["resize"] === undefined ? stretchedOf(description, size) : []),
      ...droppedOf(decoder.stats),
    ],
    milliseconds,
  };
}

/** Returns what the decoder found odd in the network or in the frame, and decoded all the same. */
const notesOf = ({ json }: Description): string[] =>
  json.kind === "plan" ? json.notes.map((note) => `note: ${note}`) : [];

/** Returns a note if nobody says how the photo was fitted into an input of other proportions. Half of the tools pad it. */
function stretchedOf({ json }: Description, [width, height]: [number, number]): string[] {
  const input = json.kind === "plan" ? json.inputSize : null;
  // a pixel more or less comes from rounding
  if (input === null || Math.abs(width * input[1] - height * input[0]) <= Math.max(width, height)) return [];
  return [
    `note: a photo of ${width}x${height} is taken as stretched to the input, ${input.join("x")}; --resize says otherwise: ${RESIZES.join(", ")}`,
  ];
}

/** Sentences about what the decoder left out, none where it left out nothing. */
function droppedOf({ candidates, dropped: { capped, notFinite } }: Stats): string[] {
  const said: string[] = [];
  if (capped > 0) said.push(`${capped} candidates left out by the cap on candidates or detections (--max)`);
  // where there is no other candidate a note says so
  if (notFinite > 0 && candidates > 0)
    said.push(`${notFinite} candidates dropped: box or score is not a finite number`);
  return said;
}

const RESIZES = ["stretch", "letterbox", "letterbox-topleft"] as const;

function resizeOf(values: Values): (typeof RESIZES)[number] {
  const value = values["resize"] ?? "stretch";
  const found = RESIZES.find((r) => r === value);
  if (!found) throw new UsageError(`--resize: got ${showJson(value)}, expected ${RESIZES.join(", ")}`);
  return found;
}

async function frameSize(values: Values): Promise<[number, number] | undefined> {
  const photo = values["photo"] as string | undefined;
  const stated = sizeOf(values, "image-size");
  if (photo === undefined) {
    if (!stated && values["resize"] !== undefined)
      throw new UsageError("--resize: got it alone, expected --photo or --image-size with it");
    return stated;
  }
  const { width, height } = imageInfo(await readNamed("photo", photo), photo);
  if (stated && (stated[0] !== width || stated[1] !== height))
    throw new UsageError(`--image-size: got ${stated.join("x")}, expected ${width}x${height} (${photo})`);
  return [width, height];
}

async function detectionsToDraw(positionals: string[], values: Values, io: Io): Promise<Drawn[]> {
  const file = values["detections"] as string | undefined;
  const index = wholeOf(values, "index", 0) ?? 0;
  if (file !== undefined && positionals.length > 0)
    throw new UsageError(`--detections: got it beside ${positionals.join(" ")}, expected one of the two`);
  const idle = Object.keys({ ...NETWORK, ...FRAME }).find((o) => o !== "photo" && values[o] !== undefined);
  if (file !== undefined && idle !== undefined)
    throw new UsageError(
      `--${idle}: got it beside --detections, which are drawn as they are, expected one of the two`,
    );
  const { images, said } =
    file === undefined
      ? await decodeFiles(positionals, values)
      : { images: await detectionsOf(file), said: [] };
  for (const line of said) io.err(`boxwright: ${line}\n`);
  if (index >= images.length)
    throw new UsageError(`--index: got ${index}, expected below ${images.length} (images in the batch)`);
  return images[index];
}

/** What `decode --json` prints, or a bare list of detections. */
async function detectionsOf(file: string): Promise<Drawn[][]> {
  let json: unknown;
  try {
    json = JSON.parse((await readFile(file, "utf8")).replace(/^\ufeff/, ""));
  } catch (e) {
    throw new UsageError(
      `--detections: got ${showJson(file)} (${(e as Error).message}), expected a JSON file of detections`,
    );
  }
  const one = (value: unknown) =>
    isRecord(value) && Array.isArray(value["detections"]) ? (value["detections"] as Drawn[]) : null;
  const single = one(json) ?? (Array.isArray(json) && json.every((d) => !one(d)) ? (json as Drawn[]) : null);
  if (single) return [single];
  const many = Array.isArray(json) ? json.map(one) : [null];
  if (many.some((list) => list === null))
    throw new UsageError(
      `--detections: got ${showJson(json)}, expected a list of detections or {"detections": [...]}`,
    );
  return many as Drawn[][];
}

function detectionTable(detections: Decoded["images"][number], size: [number, number] | undefined): string {
  const head = ["label", "class", "confidence", "x_min", "y_min", "x_max", "y_max"];
  const rows = detections.map((d) => [
    d.label,
    String(d.class_id),
    ...[d.confidence, d.x_min, d.y_min, d.x_max, d.y_max].map((v) => v.toFixed(4)),
    ...(size ? pixels(d, size) : []),
  ]);
  return table(size ? [...head, "pixels (x, y, width, height)"] : head, rows);
}

function pixels(d: Decoded["images"][number][number], [width, height]: [number, number]): string[] {
  const p = toPixels(d, width, height);
  return [
    [p.x_min, p.y_min, p.x_max - p.x_min, p.y_max - p.y_min].map((v) => String(Math.round(v))).join(", "),
  ];
}
