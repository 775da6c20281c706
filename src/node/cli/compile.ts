/** `boxwright compile`: a config and the shapes of its outputs -> a plan file for `boxwright/plan` and for C. */
import { cSource, isIdentifier } from "../../planfile/c-source.ts";
import { standaloneKernel } from "../../planfile/standalone-kernel.ts";
import { type CompiledPlan, compilePlan } from "../../planfile/write.ts";
import { PAGE } from "../../engine/choose.ts";
import { readInput, type Input } from "../files.ts";
import { readScalarKernel } from "../kernel.ts";
import { shape, show } from "../../core/tensor.ts";
import {
  UsageError,
  checkPlaces,
  dataIn,
  eachOnce,
  headOf,
  parseShape,
  selected,
  setupOf,
  tensorsOf,
  theConfig,
  writeNamed,
  type Values,
} from "./options.ts";
import type { Io } from "./io.ts";
import type { TensorHead } from "../files/safetensors.ts";

export async function compile(positionals: string[], values: Values, io: Io): Promise<void> {
  const inputs: Input[] = await Promise.all(positionals.map(readInput));
  const config = theConfig(inputs);
  if (!config && values["family"] === undefined)
    throw new UsageError("got no config, expected a config file or archive, or --family and --classes");
  const name = values["c"] as string | undefined;
  if (name !== undefined && !isIdentifier(name))
    throw new UsageError(`--c: got ${show(name)}, expected a name that C allows`);

  const tensors = tensorsOf(inputs, values);
  const heads = selected([...shapesOf(values), ...tensors.map(headOf)], values);
  eachOnce(heads);
  const setup = await setupOf(values, config?.text);
  const options = heads.length === 0 ? setup.options : { ...setup.options, outputs: heads };
  // no JavaScript engine loads C source
  const compiled = compilePlan(setup.config, options, dataIn(tensors), name !== undefined);

  const out = values["out"] as string | undefined;
  const kernel = values["kernel"] as string | undefined;
  await checkPlaces(
    [
      ["out", out],
      ["kernel", kernel],
    ],
    [values["labels"], values["priors"], ...positionals],
  );

  const result = name === undefined ? compiled.bytes : cSource(name, compiled);
  if (out === undefined) io.out(result);
  else await writeNamed("out", out, result);
  if (kernel !== undefined)
    await writeNamed(
      "kernel",
      kernel,
      standaloneKernel(readScalarKernel(), Math.ceil(compiled.layout.bytes / PAGE)),
    );
  io.err(summary(compiled));
}

/** Shapes of --outputs: separated by commas, though a shape may have one itself, before its zero point. */
function shapesOf(values: Values): TensorHead[] {
  const words = ((values["outputs"] as string[] | undefined) ?? []).flatMap((list) =>
    list.split(/,(?!-?\d+(?:\.\d+)?(?:,|$))/),
  );
  return words.map((word, i) => {
    const head = parseShape(word.trim(), i);
    if (head === null)
      throw new UsageError(`--outputs: got ${show(word)}, expected shapes such as name:1x255x13x13:f32`);
    return head;
  });
}

/** What the plan asks of the device; on the error stream, as the plan itself may be on the other. */
function summary({ bytes, plan, layout }: CompiledPlan): string {
  const slots = plan.tensors.map((t, i) => `  slot ${i}: ${shape(t)} ${t.type} at ${layout.slots[i]}\n`);
  return [
    `${plan.about}\n`,
    `plan ${bytes.length} bytes (read only), memory ${layout.bytes} bytes: up to ${layout.capacity} candidates and ${plan.maxDetections} detections`,
    plan.batch === 1 ? "\n" : `, batch of ${plan.batch}\n`,
    ...slots,
  ].join("");
}
