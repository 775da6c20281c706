/** The last line of `boxwright inspect FILE`: the command that runs the network, with its options. */
import { basename } from "node:path";
import type { Model } from "../config/model/types.ts";
import type { DecoderOptions } from "../config/types.ts";
import { TRAITS, titleOf } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import { familyInName } from "../core/family-names.ts";
import type { OtherName } from "../core/other-names.ts";
import type { ModelInspection } from "./inspect-model.ts";
import { offsetVariances, type Possibility } from "./possibility.ts";

/** COCO's class count. A network with 80 classes and no class names is usually trained on COCO. */
const COCO_CLASSES = 80;

/** Largest number of families to name if several fit. */
const MOST_FAMILIES = 3;

/** Returns the likeliest readings of a network without a family. */
export function likeliest({ decoder }: ModelInspection["json"]): Possibility[] {
  if (decoder?.kind !== "possibilities") return [];
  const best = Math.max(...decoder.possibilities.map(({ likelihood }) => likelihood));
  return decoder.possibilities.filter(({ likelihood }) => likelihood === best);
}

/** True if one of the possible readings belongs to this family. */
export const isAmong = (name: Family, possibilities: readonly Possibility[]): boolean =>
  possibilities.some(
    ({ options, families }) => options.family === name || families.join().includes(titleOf(name)),
  );

/** Returns the option `--variances` if boxes are probably offsets from priors. Else returns `null`. */
function varianceWords(family: Family | undefined, model: Model): string | null {
  const variances = offsetVariances(family, model);
  return variances && `--variances ${variances.join(",")}`;
}

/** Returns `--family` with the likeliest families, and `--task` if all have the same task. Returns `null` for none. */
export function familyWords(
  possibilities: readonly Possibility[],
  path: string,
  model: Model,
): string | null {
  const tasks = new Set(possibilities.map(({ options }) => options.task));
  const [task] = tasks.size === 1 ? tasks : [];
  const wordsOf = (family: Family): string => {
    const variances = varianceWords(family, model);
    return `--family ${family}${variances === null ? "" : ` ${variances}`}${more}`;
  };
  const more = task === undefined ? "" : ` --task ${task}`;
  const named = familyInName(basename(path));
  if (named !== null && isAmong(named, possibilities)) return wordsOf(named);
  const families = [...new Set(possibilities.map(({ options }) => options.family))];
  if (families.length === 0) return null;
  const [first, ...others] = families.slice(0, MOST_FAMILIES);
  if (others.length === 0) return wordsOf(first);
  return `--family ${first}${others.map((family) => ` (or ${family})`).join("")}${more}`;
}

/** Returns the line with the command to run next. `path` is the file's path as the user wrote it. */
export function nextStep(path: string, { json }: ModelInspection, options: DecoderOptions): string {
  const { model } = json;
  const isMissing = (name: string): boolean =>
    model.missing.some((problem) => problem.path === name) && !Object.hasOwn(options, name);
  const found = likeliest(json);
  const words = [
    ...(isMissing("family") ? [familyWords(found, path, model) ?? "--family NAME"] : []),
    ...(isMissing("family") || options.variances || options.boxFormat
      ? []
      : [varianceWords(options.family, model) ?? []].flat()),
    ...((model.inputSize ?? options.inputSize) ? [] : ["--input-size WxH"]),
    ...labelWords(model, found, options),
  ];
  const file = /[\s'"]/.test(path) ? JSON.stringify(path) : path;
  return `next: npx boxwright ${["run", file, "photo.jpg", ...words, "--draw", "boxes"].join(" ")}`;
}

function labelWords(model: Model, possibilities: readonly Possibility[], options: DecoderOptions): string[] {
  if (model.names !== null || options.labels !== undefined) return [];
  const families = new Set(possibilities.map((one) => one.options.family));
  const family = options.family ?? model.options.family ?? (families.size === 1 ? [...families][0] : null);
  if (family && TRAITS[family].className !== undefined) return [];
  const counts = new Set(possibilities.map(({ classes }) => classes));
  const classes = options.classes ?? (counts.size === 1 ? [...counts][0] : classesOf(model));
  return [`--labels ${classes === COCO_CLASSES ? "coco80" : classes === 1 ? "NAME," : "A,B,C"}`];
}

/** Returns the class count of the file or its family; "in shapes" if only the tensors show it, null if unknown. */
const classesOf = ({ options: { classes, family } }: Model): number | "in shapes" | null =>
  classes ?? (family && TRAITS[family].classes) ?? null;

/** Explains which family reads a network whose name is no family's, and why. */
export const otherNameText = ({ name, family, options, why }: OtherName): string =>
  `the name says ${name}, which ${why}: family "${family}"${options === undefined ? "" : `, ${options}`}`;
