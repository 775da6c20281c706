/** Words of the command line -> options of the library. Usage errors are found here; what a value means is the library's. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { TensorError } from "../../core/errors.ts";
import { elementType, load, mergeTensors, readTensors, type Input } from "../files.ts";
import type { NamedTensor, TensorHead } from "../files/safetensors.ts";
import { showJson } from "../../core/json.ts";
import { TYPES, isFloat } from "../../core/tensor.ts";
import { utf8 } from "../files/text.ts";
import type { DecoderOptions } from "../../config/types.ts";

/** Wrong usage: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;

export const NETWORK = {
  family: text,
  classes: text,
  labels: text,
  "input-size": text,
  anchors: text,
  masks: text,
  strides: text,
  "scale-xy": text,
  activation: text,
  "box-format": text,
  coordinates: text,
  background: text,
  variances: text,
  scales: text,
  priors: text,
  "prior-format": text,
  reading: text,
  role: { type: "string", multiple: true },
  conventions: text,
  confidence: text,
  iou: text,
  max: text,
  keep: text,
  engine: text,
  only: text,
  quantised: { type: "string", multiple: true },
} as const;

export const FRAME = { photo: text, "image-size": text, resize: text } as const;

export const COMMANDS = {
  decode: { ...NETWORK, ...FRAME, json: flag, help: { ...flag, short: "h" } },
  draw: {
    ...NETWORK,
    ...FRAME,
    out: { type: "string", multiple: true },
    detections: text,
    index: text,
    font: text,
    width: text,
    help: { ...flag, short: "h" },
  },
  inspect: { ...withoutEngine(NETWORK), json: flag, help: { ...flag, short: "h" } },
  compile: {
    ...withoutEngine(NETWORK),
    outputs: { type: "string", multiple: true },
    c: text,
    out: text,
    kernel: text,
    help: { ...flag, short: "h" },
  },
} as const;

/** Nothing runs: a compiled plan does where it is loaded, and shapes are only looked at. */
function withoutEngine<T extends { engine: unknown }>({ engine: _, ...rest }: T): Omit<T, "engine"> {
  return rest;
}

export type Values = Record<string, string | boolean | string[] | undefined>;

const got = (option: string, value: unknown, expected: string) =>
  new UsageError(`--${option}: got ${showJson(value)}, expected ${expected}`);

export function numberOf(
  values: Values,
  option: string,
  low = -Infinity,
  high = Infinity,
): number | undefined {
  const value = values[option];
  if (value === undefined) return undefined;
  const number = Number(value);
  if (String(value).trim() === "" || !(number >= low && number <= high)) {
    const range =
      low === -Infinity
        ? "a number"
        : high === Infinity
          ? `a number of ${low} or more`
          : `a number from ${low} to ${high}`;
    throw got(option, value, range);
  }
  return number;
}

export function wholeOf(values: Values, option: string, low: number): number | undefined {
  const number = numberOf(values, option, low, 999_999_999);
  if (number !== undefined && !Number.isInteger(number)) throw got(option, values[option], "a whole number");
  return number;
}

function numbersOf(values: Values, option: string): number[] | undefined {
  const value = values[option] as string | undefined;
  if (value === undefined) return undefined;
  const numbers = value
    .split(/[\s,]+/)
    .filter((w) => w !== "")
    .map(Number);
  if (numbers.length === 0 || !numbers.every(Number.isFinite))
    throw got(option, value, "numbers separated by commas");
  return numbers;
}

export function sizeOf(values: Values, option: string): [number, number] | undefined {
  const value = values[option] as string | undefined;
  if (value === undefined) return undefined;
  const match = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/i.exec(value);
  if (!match) throw got(option, value, "WxH, for instance 640x480");
  return [Number(match[1]), Number(match[2])];
}

export function listOf(values: Values, option: string): string[] | undefined {
  const value = values[option] as string | undefined;
  if (value === undefined) return undefined;
  const words = value
    .split(",")
    .map((w) => w.trim())
    .filter((w) => w !== "");
  if (words.length === 0) throw got(option, value, "names separated by commas");
  return words;
}

/** Names one a line, or separated by commas where no such file exists. */
export async function labelsOf(values: Values): Promise<string[] | undefined> {
  const value = values["labels"] as string | undefined;
  if (value === undefined) return undefined;
  const file = await readFile(value).catch(() => null);
  if (file === null && !value.includes(","))
    throw got(
      "labels",
      value,
      "a file that can be read, or names separated by commas (one alone with a comma behind it)",
    );
  const lines = (file === null ? value.split(",") : linesOf(file, value)).map((l) => l.trim());
  while (lines.length > 0 && lines[lines.length - 1] === "") lines.pop(); // one in between is a class without a name
  if (lines.length === 0) throw got("labels", value, "one name or more");
  return lines;
}

function linesOf(file: Uint8Array, path: string): string[] {
  const text = utf8(file);
  if (text === null) throw got("labels", path, "a text file in UTF-8");
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    // as it should be
  }
  if (typeof json === "object" && json !== null)
    throw got("labels", path, "a text file with one name a line, not JSON");
  return text.split(/\r?\n/);
}

function rolesOf(values: Values): Record<string, string | string[]> | undefined {
  const words = values["role"] as string[] | undefined;
  if (!words) return undefined;
  const roles: Record<string, string | string[]> = {};
  for (const word of words) {
    const [, part, name] = /^(boxes|scores|objectness|labels|priors|count)=(.+)$/.exec(word) ?? [];
    if (!part)
      throw got("role", word, "PART=NAME with a part of boxes, scores, objectness, labels, priors, count");
    const before = roles[part];
    roles[part] = before === undefined ? name : [...(Array.isArray(before) ? before : [before]), name];
  }
  return roles;
}

function masksOf(values: Values): unknown {
  const value = values["masks"] as string | undefined;
  if (value === undefined) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    throw got("masks", value, `JSON, for instance {"side26":[0,1,2],"side13":[3,4,5]}`);
  }
}

async function priorsOf(values: Values): Promise<Float32Array | undefined> {
  const file = values["priors"] as string | undefined;
  if (file === undefined) return undefined;
  const list = await readTensors(file);
  if (list.length !== 1 || !(list[0].data instanceof Float32Array))
    throw got(
      "priors",
      file,
      `a file with one f32 tensor, not ${list.map((t) => `${t.name} (${t.type})`).join(", ")}`,
    );
  return list[0].data;
}

/** Arguments of `createDecoder` and `inspect`. */
export interface Setup {
  /** A config file's text, typed options, or nothing. */
  config: unknown;
  options: DecoderOptions;
}

/** `file`: the text of a config file, if there is one. The library checks the values; here they only get their types. */
export async function setupOf(values: Values, file: string | undefined): Promise<Setup> {
  const scaleXY = numbersOf(values, "scale-xy");
  const labels = await labelsOf(values);
  const background = values["background"];
  const options = defined({
    engine: values["engine"],
    family: values["family"],
    // Names in a file are one per class, so their number need not be repeated.
    classes: wholeOf(values, "classes", 1) ?? (file === undefined ? labels?.length : undefined),
    labels,
    inputSize: sizeOf(values, "input-size"),
    strides: numbersOf(values, "strides"),
    scaleXY: scaleXY?.length === 1 ? scaleXY[0] : scaleXY,
    activation: values["activation"],
    reading: values["reading"],
    boxFormat: values["box-format"],
    coordinates: values["coordinates"],
    background: background === "none" ? false : wholeOf(values, "background", 0),
    variances: numbersOf(values, "variances"),
    scales: numbersOf(values, "scales"),
    priors: await priorsOf(values),
    priorFormat: values["prior-format"],
    roles: rolesOf(values),
    conventions: values["conventions"],
    confidenceThreshold: numberOf(values, "confidence", 0, 1),
    iouThreshold: numberOf(values, "iou", 0, 1),
    maxDetections: wholeOf(values, "max", 1),
    keep: listOf(values, "keep")?.map((word) => (/^\d+$/.test(word) ? Number(word) : word)),
  }) as DecoderOptions;
  const anchors = defined({ anchors: numbersOf(values, "anchors"), anchorMasks: masksOf(values) });
  if (file !== undefined) {
    const wrong = ["anchors", "masks"].find((option) => values[option] !== undefined);
    if (wrong) throw new UsageError(`--${wrong}: got it beside a config file, expected one of the two`);
    return { config: file, options };
  }
  // A family makes it a config; shapes to inspect need none.
  const { family, classes } = options;
  const lost = ["anchors", "masks"].find((option) => values[option] !== undefined);
  if (lost && family === undefined)
    throw new UsageError(`--${lost}: got it without a family, expected --family with it`);
  return {
    config:
      family === undefined ? undefined : defined({ family, classes, strides: options.strides, ...anchors }),
    options,
  };
}

const defined = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** The tensors of --only, in its order; all of them without. */
export function selected<T extends { name: string }>(tensors: T[], values: Values): T[] {
  const names = listOf(values, "only");
  return (
    names?.map((name) => {
      const found = tensors.find((t) => t.name === name);
      if (!found) throw got("only", name, `one of ${tensors.map((t) => t.name).join(", ")}`);
      return found;
    }) ?? tensors
  );
}

const QUANTISED: readonly string[] = TYPES.filter((type) => !isFloat({ type }));

/**
 * All tensors of the files. Those of NumPy hold integers without their scale: --quantised says it, without a name where there is one such
 * tensor.
 */
export function tensorsOf(inputs: readonly Input[], values: Values): NamedTensor[] {
  return ((values["quantised"] as string[] | undefined) ?? []).reduce((list, word) => {
    const [, name, scale, zeroPoint] = QUANTISED_WORD.exec(word) ?? [];
    const numbers = scaleOf(scale, zeroPoint);
    if (numbers === null)
      throw got("quantised", word, "[NAME=]SCALE[,ZERO] with a positive scale, for instance boxes=0.07,128");
    const open = list.filter((t) => QUANTISED.includes(t.type) && t.scale === undefined);
    const meant = open.filter((t) => name === undefined || t.name === name);
    if (meant.length !== 1) {
      const names =
        open.length === 0 ? "the files have none" : `one of ${open.map((t) => t.name).join(", ")}`;
      throw got("quantised", word, `the name of a tensor of integers whose scale is not known yet: ${names}`);
    }
    return list.map((t) => (t === meant[0] ? { ...t, ...numbers } : t));
  }, mergeTensors(inputs));
}

/** `SCALE[,ZERO]`, as it stands behind a shape and in --quantised. */
const SCALE = String.raw`(-?[\d.e+-]+)(?:,(-?\d+(?:\.\d+)?))?`;
const SHAPE_WORD = new RegExp(String.raw`^(?:(.+):)?(\d+(?:x\d+)+|\d+)(?::([a-z]\w*))?(?::${SCALE})?$`, "i");
const QUANTISED_WORD = new RegExp(`^(?:(.+)=)?${SCALE}$`, "i");

/** Null for a scale that is not a positive number. */
function scaleOf(scale: string, zeroPoint = "0"): { scale: number; zeroPoint: number } | null {
  return Number(scale) > 0 && Number(scale) < Infinity
    ? { scale: Number(scale), zeroPoint: Number(zeroPoint) }
    : null;
}

/** `name:1x84x8400:f32:0.004,128`, all but the shape optional; null for what is no such thing (a file, then). */
export function parseShape(word: string, index: number): TensorHead | null {
  const match = SHAPE_WORD.exec(word);
  if (!match) return null;
  const [, name, dims, spelling, scale, zeroPoint] = match;
  const type = elementType(spelling ?? "f32");
  if (!type)
    throw new UsageError(
      `${word}: got type ${showJson(spelling)}, expected f32, f16, u8, i8, i16, u16, i32, u32, i64 or f64`,
    );
  const head: TensorHead = { name: name ?? `output${index}`, dims: dims.split(/x/i).map(Number), type };
  if (head.dims.includes(0)) throw new UsageError(`${word}: got a size of 0, expected 1 or more`);
  if (scale !== undefined) {
    const numbers = scaleOf(scale, zeroPoint);
    if (numbers === null)
      throw new UsageError(`${word}: got scale ${showJson(scale)}, expected a positive number`);
    Object.assign(head, numbers);
  }
  return head;
}

/** The data of a tensor by its name, where it is at hand. */
export const dataIn =
  (tensors: readonly NamedTensor[]) =>
  (name: string): NamedTensor["data"] | null =>
    tensors.find((t) => t.name === name)?.data ?? null;

/** A tensor without its data: what `inspect` looks at. */
export const headOf = ({ data: _, ...head }: NamedTensor): TensorHead => head;

/** The one config among the files, its text known to be JSON. */
export function theConfig(inputs: readonly Input[]): { path: string; text: string } | undefined {
  const configs = inputs.filter((i) => i.kind === "config");
  if (configs.length > 1)
    throw new UsageError(`got the configs ${configs.map((c) => c.path).join(" and ")}, expected one`);
  const [config] = configs;
  try {
    if (config) JSON.parse(config.text);
  } catch (e) {
    throw new TensorError(
      `${config.path}: got text that is not JSON (${(e as Error).message}), expected a config: NN_config, nn_config, an NN Archive's config.json or typed options`,
    );
  }
  return config;
}

/** Shapes and tensors side by side may claim the same name. */
export function eachOnce(heads: readonly TensorHead[]): void {
  const seen = new Set<string>();
  for (const { name } of heads) {
    if (seen.has(name)) throw new UsageError(`got tensor ${showJson(name)} twice, expected each name once`);
    seen.add(name);
  }
}

/** The bytes of a file that an option names. */
export async function readNamed(option: string, path: string): Promise<Uint8Array> {
  return load(path).catch((e: Error) => {
    e.message = `--${option}: ${e.message}`;
    throw e;
  });
}

export async function writeNamed(option: string, path: string, data: string | Uint8Array): Promise<void> {
  return writeFile(path, data).catch((e: NodeJS.ErrnoException) => {
    const why = e.code === "ENOENT" ? "no such folder" : e.code === "EISDIR" ? "a folder" : e.code;
    throw new TensorError(`--${option}: ${path}: got ${why}, expected a file that can be written`);
  });
}

/**
 * A result must not take the place of what it is made from, nor of another result. `outs`: each option with the path it names; `read`: options' values
 * and files. What is not given counts for nothing.
 */
export async function checkPlaces(
  outs: readonly (readonly [option: string, path: string | undefined])[],
  read: readonly unknown[],
): Promise<void> {
  // of a file its number, as links and spellings differ; a device may be written to more than once
  const identity = (path: string): Promise<string | null> =>
    stat(path, { bigint: true }).then(
      (s) => (s.isFile() ? `${s.dev} ${s.ino}` : null),
      () => resolve(path),
    );
  const taken = new Set(await Promise.all(read.filter((path) => typeof path === "string").map(identity)));
  for (const [option, path] of outs) {
    if (path === undefined) continue;
    const id = await identity(path);
    if (id !== null && taken.has(id))
      throw got(option, path, "a file of its own, not one that is read or written here already");
    taken.add(id);
  }
}
