/** Turns options of the command line into the arguments of `createDecoder`. */
import { parseJson, knownOf } from "../../core/json.ts";
import type { DecoderOptions } from "../../config/types.ts";
import { ROLE_NAMES } from "../../config/readers.ts";
import { readLabelFile } from "../../config/label-file.ts";
import { load, nullIfAbsent } from "../files/load.ts";
import { readInputUpTo, tensorsOf } from "../files/read.ts";
import type { OptionHint } from "../../core/errors.ts";
import { isLabelSet, labelsOf } from "../../core/labels.ts";
import { utf8 } from "../files/text.ts";
import { checkMasks } from "./masks.ts";
import { DECODER_OPTIONS, UsageError, type Values } from "./options.ts";
import {
  listOf,
  mostBytes,
  numberOf,
  numbersOf,
  pairOf,
  parsed,
  sizeOf,
  textOf,
  textsOf,
  wholeOf,
  wrongValue,
} from "./values.ts";

/** Arguments for `createDecoder` and `inspect`. */
export interface Setup {
  /** Text of a config file, or typed options. Undefined if there is neither. */
  readonly config: unknown;
  readonly options: DecoderOptions;
}

/**
 * Returns the arguments for `createDecoder` from the options.
 * @param file text of the config file, if there is one
 */
export async function setupOf(values: Values, file: string | undefined): Promise<Setup> {
  const options = await decoderOptions(values, file !== undefined);
  if (file !== undefined) return { config: file, options };
  const { family } = options;
  if (family === undefined) checkAnchorOptions(values);
  // Without a family, return undefined and not {}: `createDecoder` would read {} as typed options.
  return { config: family && { family }, options };
}

function checkAnchorOptions(values: Values): void {
  const given = ["anchors", "anchor-masks"].find((option) => values[option] !== undefined);
  if (given !== undefined)
    throw new UsageError(`--${given} describes a network without a family. Add --family.`);
}

const READERS: {
  readonly [N in OptionHint["option"]]?: (values: Values, flag: string) => unknown;
} = {
  classes: (values, flag) => wholeOf(values, flag, 1),
  labels: labelsIn,
  inputSize: sizeOf,
  keypoints: keypointsOf,
  anchors: numbersOf,
  anchorMasks: anchorMasksOf,
  strides: numbersOf,
  scaleXY(values, flag) {
    const numbers = numbersOf(values, flag);
    return numbers?.length === 1 ? numbers[0] : numbers;
  },
  background: (values, flag) => (values[flag] === "none" ? false : wholeOf(values, flag, 0)),
  priors: priorsOf,
  variances: numbersOf,
  scales: numbersOf,
  roles: rolesOf,
  confidenceThreshold: (values, flag) => numberOf(values, flag, 0, 1),
  iouThreshold: (values, flag) => numberOf(values, flag, 0, 1),
  maxDetections: (values, flag) => wholeOf(values, flag, 1),
  keep: (values, flag) => listOf(values, flag)?.map((word) => (/^\d+$/.test(word) ? Number(word) : word)),
  // The reader of tensors handles this option.
  quantisation: () => undefined,
};

async function decoderOptions(values: Values, hasFile: boolean): Promise<DecoderOptions> {
  checkMasks(values);
  const options: Record<string, unknown> = { engine: values["engine"] };
  for (const [flag, { sets }] of Object.entries(DECODER_OPTIONS))
    if (sets) options[sets] = await (READERS[sets] ?? textOf)(values, flag);
  // Without a config file, take the class count from the labels.
  if (!hasFile) options.classes ??= (options.labels as readonly string[] | undefined)?.length;
  return knownOf(options) as DecoderOptions;
}

/** Reads --labels: a file, else the name of a known list such as coco80, else a list of labels. */
async function labelsIn(values: Values): Promise<readonly string[] | undefined> {
  const value = textOf(values, "labels");
  if (value === undefined) return undefined;
  const file = await load(value, mostBytes(values)).catch(nullIfAbsent);
  if (file === null && isLabelSet(value)) return labelsOf(value);
  if (file === null && !value.includes(","))
    throw wrongValue(
      "labels",
      value,
      "a file that can be read, coco80, coco91, voc20, voc21, or names separated by commas. Write a " +
        "single name with a comma after it.",
    );
  const labels =
    file === null ? value.split(",").map((label) => label.trim()) : [...labelsOfFile(file, value)];
  // Drop empty labels at the end. An empty label before others is a class without a name.
  while (labels[labels.length - 1] === "") labels.pop();
  if (labels.length === 0) throw wrongValue("labels", value, "one name or more");
  return labels;
}

function labelsOfFile(file: Uint8Array, path: string): readonly string[] {
  const text = utf8(file);
  if (text === null) throw wrongValue("labels", path, "a text file in UTF-8");
  const read = readLabelFile(text);
  if ("labels" in read) return read.labels;
  throw new UsageError(`--labels ${path}: got ${read.got}, expected ${read.expected}.`);
}

function keypointsOf(values: Values): [number, number] | undefined {
  return pairOf(values, "keypoints", "KxV, for example 17x3 or 4x2", /^([1-9]\d{0,3})x([23])$/i);
}

/** Reads --role. A role that is given several times gets a list of tensors. */
function rolesOf(values: Values): Record<string, string | string[]> | undefined {
  const words = textsOf(values, "role");
  if (!words) return undefined;
  const names: Record<string, string[]> = {};
  for (const word of words) {
    const [, part = "", name] = /^([^=]*)=(.+)$/.exec(word) ?? [];
    if (!ROLE_NAMES.includes(part))
      throw wrongValue("role", word, `PART=NAME with one of the parts ${ROLE_NAMES.join(", ")}`);
    (names[part] ??= []).push(name);
  }
  return Object.fromEntries(
    Object.entries(names).map(([part, list]) => [part, list.length === 1 ? list[0] : list]),
  );
}

function anchorMasksOf(values: Values): unknown {
  return parsed(values, "anchor-masks", `JSON, for example {"side26":[0,1,2],"side13":[3,4,5]}`, parseJson);
}

async function priorsOf(values: Values): Promise<Float32Array | undefined> {
  const file = textOf(values, "priors");
  if (file === undefined) return undefined;
  const [tensor, ...others] = tensorsOf([await readInputUpTo(mostBytes(values))(file)]);
  if (others.length > 0 || !(tensor?.data instanceof Float32Array)) {
    const found = [...(tensor ? [tensor] : []), ...others].map((t) => `${t.name} (${t.type})`).join(", ");
    throw wrongValue("priors", file, `a file with one f32 tensor, not ${found}`);
  }
  return tensor.data;
}
