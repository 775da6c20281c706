/** Finds the config and the tensors among the files of a command. */
import { type Setup, setupOf } from "./setup.ts";
import { TensorError } from "../../core/errors.ts";
import { TYPES, isFloat } from "../../core/tensor.ts";
import { type Input, mergeTensors, readInputUpTo } from "../files/read.ts";
import type { NamedTensor, TensorHead } from "../files/tensor.ts";
import { UsageError, type Values } from "./options.ts";
import { parseQuantised } from "./shapes.ts";
import { listOf, textsOf, wrongValue, mostBytes } from "./values.ts";

/** Returns the config among the files, if there is one. Throws for several configs, or for text that is not JSON. */
export function configAmong(inputs: readonly Input[]): { path: string; text: string } | undefined {
  const configs = inputs.filter((input) => input.kind === "config");
  if (configs.length > 1)
    throw new UsageError(
      `${configs.length} configs are given: ${configs.map((c) => c.path).join(", ")}. Pass one.`,
    );
  const [config] = configs;
  try {
    if (config) JSON.parse(config.text);
  } catch (e) {
    throw new TensorError(
      `${config.path}: got text that is not JSON (${(e as Error).message}), expected a config: ` +
        "NN_config, nn_config, an NN Archive's config.json or typed options",
    );
  }
  return config;
}

/** Reads files, and the setup of the config among them or of options. Throws if there is neither. */
export async function readNetwork(
  paths: readonly string[],
  values: Values,
): Promise<{ readonly inputs: readonly Input[]; readonly setup: Setup }> {
  const inputs = await Promise.all(paths.map(readInputUpTo(mostBytes(values))));
  const config = configAmong(inputs);
  if (config === undefined && values["family"] === undefined)
    throw new UsageError(
      "no network is described. Pass a config file, an NN Archive, or --family and --classes: " +
        "boxwright inspect lists what the tensors can be.",
    );
  return { inputs, setup: await setupOf(values, config?.text) };
}

const QUANTISED_TYPES: readonly string[] = TYPES.filter((type) => !isFloat({ type }));

/** Returns all tensors of the files. Adds the scales of --quantised, because NumPy files cannot state scales. */
export function tensorsAmong(inputs: readonly Input[], values: Values): NamedTensor[] {
  return (textsOf(values, "quantised") ?? []).reduce(withScale, mergeTensors(inputs));
}

/** Applies one value of --quantised. The value needs no name if exactly one tensor of integers lacks a scale. */
function withScale(tensors: NamedTensor[], word: string): NamedTensor[] {
  const parsed = parseQuantised(word);
  if (parsed === null)
    throw wrongValue(
      "quantised",
      word,
      "[NAME=]SCALE[,ZERO] with a positive scale, for example boxes=0.07,128",
    );
  const open = tensors.filter((t) => QUANTISED_TYPES.includes(t.type) && t.scale === undefined);
  const matches = open.filter((t) => parsed.name === undefined || t.name === parsed.name);
  if (matches.length !== 1) {
    const names = open.length === 0 ? "the files have none" : `one of ${open.map((t) => t.name).join(", ")}`;
    throw wrongValue("quantised", word, `the name of a tensor of integers without a scale: ${names}`);
  }
  return tensors.map((t) => (t === matches[0] ? { ...t, ...parsed.scale } : t));
}

/** Returns the tensors that --only names, in the order of --only. Returns all tensors without --only. */
export function selectOnly<T extends { name: string }>(tensors: T[], values: Values): T[] {
  const names = listOf(values, "only");
  if (names === undefined) return tensors;
  return names.map((name) => {
    const found = tensors.find((t) => t.name === name);
    if (!found) throw wrongValue("only", name, `one of ${tensors.map((t) => t.name).join(", ")}`);
    return found;
  });
}

/** Returns a tensor without its data. */
export const headOf = ({ data: _, ...head }: NamedTensor): TensorHead => head;

/** Returns a function from a tensor's name to its data, or to null if there is no such tensor. */
export const dataIn =
  (tensors: readonly NamedTensor[]) =>
  (name: string): NamedTensor["data"] | null =>
    tensors.find((t) => t.name === name)?.data ?? null;
