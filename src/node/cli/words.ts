/** The words after a command as options and the rest; and which option a word, or a message of the library, means. */
import { parseArgs } from "node:util";
import { COMMANDS, UsageError, type Values } from "./options.ts";
import { showJson } from "../../core/json.ts";

type Name = keyof typeof COMMANDS;
type Options = Readonly<Record<string, { readonly type: "string" | "boolean" }>>;

const optionsOf = (name: Name): Options => COMMANDS[name];
const names = (name: Name): string[] => Object.keys(optionsOf(name));

/** Node checks nothing here: what it says of a wrong word advises a positional argument, and names no option that is meant. */
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

/** Options of the library by the words that set them, with a value as it may look, and how messages ask for it where not as `asked` says. */
export const LIBRARY: Record<string, readonly [option: string, value: string, asked?: RegExp]> = {
  family: ["family", "yolov8"],
  classes: ["classes", "80"],
  labels: ["labels", "names.txt"],
  inputSize: ["input-size", "640x640"],
  outputs: ["outputs", "output0:1x84x8400:f32", /^outputs: got no/],
  anchors: ["anchors", "w,h,w,h,... (not beside a config file)", /\(anchors: got/],
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
  variances: ["variances", "0.1,0.1,0.2,0.2", /say variances|variances or scales \(got none/],
  scales: ["scales", "10,10,5,5", /variances or scales \(got none/],
  roles: ["role", "boxes=NAME"],
  conventions: ["conventions", "ultralytics"],
  confidenceThreshold: ["confidence", "0.25"],
  iouThreshold: ["iou", "0.45"],
  maxDetections: ["max", "100"],
  quantised: ["quantised", "NAME=0.07,128", /integers \(\w+\) without a scale/],
};

/** What other programs call an option, where the beginning of its name does not tell. */
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

/** In small letters, however its words are joined. */
const plain = (word: string): string => word.toLowerCase().replace(/[-_ ]/g, "");

/** The options of a command that an unknown word may mean: the surest kind of likeness that any of them has. */
function meantBy(word: string, name: Name): string {
  const said = plain(word);
  const likeness: ((option: string) => boolean)[] = [
    (o) =>
      said === plain(o) || Object.keys(LIBRARY).some((key) => LIBRARY[key][0] === o && plain(key) === said),
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

/** How many letters to change, to put in or to leave out make one word of the other. */
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
 * A message of the library, which names its own options, with the words to write here. What was given is left out: who wrote it
 * knows it, and messages also name options to say where a value comes from.
 */
export function withFlags(message: string, name: Name, words: readonly string[]): string {
  const text = message.replaceAll("(option family)", "");
  const flags = Object.entries(LIBRARY).flatMap(([key, [option, example, pattern = asked(key)]]) => {
    const given = words.some((w) => w === `--${option}` || w.startsWith(`--${option}=`));
    if (given || !names(name).includes(option) || !pattern.test(text)) return [];
    const value = new RegExp(`[ (]${key}: "([\\w-]+)"`).exec(message)?.[1] ?? example;
    return [`--${option} ${value}`];
  });
  return flags.length === 0 ? message : `${message}\nIn this command: ${flags.join(", ")}`;
}

/** Not at the beginning, where the path of a value in a config stands. A name of small letters may be a word like others. */
const asked = (key: string): RegExp =>
  new RegExp(
    key === key.toLowerCase() ? `\\b(option|say|or|and) ${key}\\b|\\b${key} settles` : `[ (]${key}\\b`,
  );
