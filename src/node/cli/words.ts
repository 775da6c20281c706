/** Parses the words after a command, and tells which option a misspelt word or an error of the library means. */
import { parseArgs } from "node:util";
import { ConfigError, type OptionHint, TensorError } from "../../core/errors.ts";
import { suggestedFamilies } from "../../core/families.ts";
import { COMMANDS, UsageError, type Values } from "./options.ts";
import { showJson } from "../../core/json.ts";

type Name = keyof typeof COMMANDS;
type Options = Readonly<Record<string, { readonly type: "string" | "boolean" }>>;

const optionsOf = (name: Name): Options => COMMANDS[name];
const names = (name: Name): string[] => Object.keys(optionsOf(name));

/** Parses words into options and positionals. Throws a UsageError that names the option which a wrong word means. */
export function parseWords(name: Name, words: string[]): { values: Values; positionals: string[] } {
  const options = optionsOf(name);
  const { values, positionals, tokens } = parseArgs({
    args: words,
    options: COMMANDS[name],
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { rawName, value, inlineValue } = token;
    if (!Object.hasOwn(options, token.name))
      throw new UsageError(`got ${rawName}, expected ${meantBy(token.name, name)}`);
    if (options[token.name].type === "boolean") {
      if (value !== undefined) throw new UsageError(`${rawName}: got ${showJson(value)}, expected no value`);
    } else if (value === undefined) throw new UsageError(`${rawName}: got nothing, expected a value`);
    else if (!inlineValue && /^-./.test(value))
      throw new UsageError(
        `${rawName}: got ${showJson(value)}, expected a value; one that begins with a dash is written ${rawName}=${value}`,
      );
  }
  return { values: values as Values, positionals };
}

/** The option of the command line for each option of the library, with an example of its value. */
export const LIBRARY: {
  readonly [name in Exclude<OptionHint["option"], "keep">]: readonly [option: string, value: string];
} = {
  family: ["family", suggestedFamilies()[0]],
  classes: ["classes", "80"],
  labels: ["labels", "names.txt"],
  inputSize: ["input-size", "640x640"],
  outputs: ["outputs", "output0:1x84x8400:f32"],
  anchors: ["anchors", "w,h,w,h,... (not beside a config file)"],
  anchorMasks: ["masks", "'[[0,1,2],[3,4,5]]' (not beside a config file)"],
  strides: ["strides", "8,16,32"],
  scaleXY: ["scale-xy", "1.05"],
  activation: ["activation", "logits"],
  reading: ["reading", "NAME"],
  boxFormat: ["box-format", "xyxy"],
  coordinates: ["coordinates", "normalised"],
  background: ["background", "none"],
  priors: ["priors", "priors.npy"],
  priorFormat: ["prior-format", "cxcywh"],
  variances: ["variances", "0.1,0.1,0.2,0.2"],
  scales: ["scales", "10,10,5,5"],
  roles: ["role", "boxes=NAME"],
  conventions: ["conventions", "ultralytics"],
  confidenceThreshold: ["confidence", "0.25"],
  iouThreshold: ["iou", "0.45"],
  maxDetections: ["max", "100"],
  quantisation: ["quantised", "NAME=0.07,128"],
};

/** Names that other programs have for an option. */
const ELSEWHERE: Record<string, string> = {
  confidence: "threshold thresh score minscore minconfidence",
  iou: "nms nmsthreshold nmsiou overlap",
  max: "topk",
  "input-size": "imgsz imgsize size",
  labels: "names classnames",
  classes: "nc numclasses",
  out: "o output",
  photo: "image img",
  quantised: "quantized quant quantisation quantization zeropoint scale",
  "scale-xy": "scale",
  scales: "scale",
};

/** Returns a word in small letters, without what joins its parts. */
const plain = (word: string): string => word.toLowerCase().replace(/[-_ ]/g, "");

/** Returns the options that an unknown word may mean, by the surest kind of likeness that any of them has. */
function meantBy(word: string, name: Name): string {
  const said = plain(word);
  const likeness: ((option: string) => boolean)[] = [
    (o) =>
      said === plain(o) ||
      Object.entries(LIBRARY).some(([key, [option]]) => option === o && plain(key) === said),
    (o) => (ELSEWHERE[o]?.split(" ") ?? []).includes(said),
    (o) => said.length > 1 && (plain(o).startsWith(said) || (o.length > 1 && said.startsWith(plain(o)))),
    (o) => distance(said, plain(o)) <= (said.length < 5 ? 1 : 2) && said.length > 2,
  ];
  for (const alike of likeness) {
    const found = names(name).filter(alike);
    if (found.length > 0) return found.map((o) => `--${o}`).join(" or ");
  }
  const others = (Object.keys(COMMANDS) as Name[]).filter((other) => names(other).includes(word));
  return `an option of ${name}${others.length > 0 ? `: this is one of ${others.join(", ")}` : ""}`;
}

/** Returns how many letters have to be changed, added or dropped to make one word of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let k = 0; k < b.length; k++)
      next.push(Math.min(row[k] + (a[i] === b[k] ? 0 : 1), row[k + 1] + 1, next[k] + 1));
    row = next;
  }
  return row[b.length];
}

/**
 * Returns a message of the library with the options of this command that would settle it. Options that the user gave
 * are left out: the message names them already.
 */
export function withFlags(error: Error, name: Name, words: readonly string[]): string {
  const isGiven = (option: string): boolean =>
    words.some((word) => word === `--${option}` || word.startsWith(`--${option}=`));
  const flags = hintsOf(error).flatMap(({ option: key, value }) => {
    if (key === "keep") return [];
    const [option, example] = LIBRARY[key];
    if (isGiven(option) || !names(name).includes(option)) return [];
    return [`--${option} ${value ?? example}`];
  });
  return flags.length === 0 ? error.message : `${error.message}\nIn this command: ${flags.join(", ")}`;
}

const hintsOf = (error: Error): readonly OptionHint[] =>
  error instanceof TensorError || error instanceof ConfigError ? error.options : [];
