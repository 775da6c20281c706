/** `boxwright inspect`: shows how a config, an archive, tensor files or shapes would be read. */
import { basename, extname } from "node:path";
import { otherNameOf } from "../../core/other-names.ts";
import { specOf } from "../../core/tensor.ts";
import { type Input, readInputUpTo } from "../files/read.ts";
import type { TensorHead } from "../files/tensor.ts";
import { inspectModel, modelIn } from "../inspect-model.ts";
import { inspect as inspectTensors, inspectShapes } from "../inspect-tensors.ts";
import type { OpenSpec } from "../possibility.ts";
import { nextStep, otherNameText } from "../next-step.ts";
import { framesIn, isFolder } from "./frames.ts";
import { configAmong, dataIn, headOf, selectOnly, tensorsAmong } from "./inputs.ts";
import type { Io } from "./io.ts";
import { UsageError } from "./options.ts";
import type { Parsed } from "./parse.ts";
import { setupOf } from "./setup.ts";
import { checkNamesDiffer, type OpenHead, parseOpenShape, parseShape, shapesIn } from "./shapes.ts";
import { trialLines, tryNetwork } from "./try.ts";
import { mostBytes } from "./values.ts";

export async function inspect({ positionals, values }: Parsed, io: Io): Promise<void> {
  const words = (await Promise.all(positionals.map((word) => firstFrameOf(word, io)))).flat();
  const { shapes, all, inputs } = await readWords(words, readInputUpTo(mostBytes(values)));
  const config = configAmong(inputs);
  const tensors = tensorsAmong(inputs, values);
  const heads = selectOnly([...shapes, ...tensors.map(headOf)], values);
  checkNamesDiffer([...heads, ...all.filter((one) => !shapes.includes(one as TensorHead))]);
  const isOpen = all.length > shapes.length;
  if (!config && heads.length + all.length === 0 && values["family"] === undefined)
    throw new UsageError(
      "nothing to inspect is given. Pass a config, an archive, tensor files or shapes such as output0:1x84x8400:f32.",
    );
  const setup = await setupOf(values, config?.text);
  const model = modelIn(setup.config);
  if (isOpen && setup.config !== null && setup.config !== undefined)
    throw new UsageError("got a shape with an open size beside a config. Write every size as a number.");
  if (values["try"] === undefined && values["out"] !== undefined)
    throw new UsageError("--out names the page of --try. Add --try PHOTO, or remove --out.");
  if (values["try"] !== undefined && model === null)
    throw new UsageError("--try runs a network, and none is given. Name a model file (.onnx).");
  if (isOpen)
    return print(
      inspectShapes([...all, ...tensors.map(headOf)].map(openSpecOf), setup.options, dataIn(tensors)),
      values,
      io,
    );
  if (model === null)
    return print(inspectTensors(setup.config, heads, setup.options, dataIn(tensors)), values, io);
  const path = config?.path ?? "FILE";
  const inspection = inspectModel(model, heads, setup.options, dataIn(tensors), basename(path));
  const other = otherNameOf(basename(path, extname(path)));
  const lines = [
    inspection.text.replace(/\n*$/, ""),
    ...(other && setup.options.family === undefined ? [otherNameText(other)] : []),
    nextStep(path, inspection, setup.options),
  ];
  if (values["try"] === undefined)
    return print({ text: lines.join("\n"), json: inspection.json }, values, io);
  const trials = await tryNetwork({ path, inspection, ...setup }, values, io);
  const text = [...lines, ...trialLines(trials, values, path)].join("\n");
  print({ text, json: { ...inspection.json, trials } }, values, io);
}

function print(
  { text, json }: { readonly text: string; readonly json: unknown },
  values: Parsed["values"],
  io: Io,
): void {
  io.out(values["json"] ? `${JSON.stringify(json, null, 2)}\n` : text.replace(/\n*$/, "\n"));
}

/** Returns the spec of a tensor, with `null` for unknown dims. */
const openSpecOf = (head: OpenHead): OpenSpec => ({
  ...specOf(head.name, { ...head, dims: head.dims.map((d) => d ?? 1) }),
  dims: head.dims,
});

/** Returns the files of the first frame if the word is a folder. Returns other words unchanged. */
async function firstFrameOf(word: string, io: Io): Promise<readonly string[]> {
  if (!(await isFolder(word))) return [word];
  const [{ name, paths }, ...others] = await framesIn(word);
  if (others.length > 0)
    io.err(
      `boxwright: note: ${word} holds ${others.length + 1} frames: the first one, ${name}, is inspected\n`,
    );
  return paths;
}

async function readWords(
  words: readonly string[],
  read: (path: string) => Promise<Input>,
): Promise<{ shapes: readonly TensorHead[]; all: readonly OpenHead[]; inputs: readonly Input[] }> {
  const shapes: TensorHead[] = [];
  const all: OpenHead[] = [];
  const inputs: Input[] = [];
  for (const word of words.flatMap(shapesIn)) {
    const shape = parseShape(word, shapes.length);
    const openShape = shape ?? parseOpenShape(word);
    if (shape) shapes.push(shape);
    if (openShape) all.push(openShape);
    else inputs.push(await read(word).catch((e: Error) => refuseWord(word, e)));
  }
  return { shapes, all, inputs };
}

/** Throws the error of reading a word as a file. If there is no such file, the error explains the form of shapes. */
function refuseWord(word: string, e: Error): never {
  const isMissing = (e.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  if (isMissing && e.message.startsWith(`${word} `)) e.message += " A shape is written NAME:1x84x8400.";
  throw e;
}
