/** `boxwright compile`: makes a plan file for `boxwright/plan` and C, or an ES module that needs no package. */
import { shape } from "../../core/tensor.ts";
import { PAGE } from "../../kernels/kernel.ts";
import { cSource, isIdentifier } from "../../planfile/c-source.ts";
import { moduleSource, moduleTypes } from "../../planfile/module.ts";
import { standaloneKernel } from "../../planfile/standalone-kernel.ts";
import { type CompiledPlan, compilePlan } from "../../planfile/write.ts";
import { readScalarKernel, readTemplate } from "../kernel.ts";
import { dataIn, headOf, readNetwork, selectOnly, tensorsAmong } from "./inputs.ts";
import type { Io } from "./io.ts";
import { UsageError, type Values } from "./options.ts";
import type { Parsed } from "./parse.ts";
import { checkPlaces, writeNamed } from "./places.ts";
import { checkNamesDiffer, parseShapes } from "./shapes.ts";
import { textOf, textsOf, wrongValue } from "./values.ts";

export async function compile({ positionals, values }: Parsed, io: Io): Promise<void> {
  const name = textOf(values, "c");
  if (name !== undefined && !isIdentifier(name)) throw wrongValue("c", name, "a name that C allows");
  // A plan as C source is decoded only by the scalar kernel, since no JavaScript engine loads C source.
  const scalarOnly = name !== undefined;
  const out = textOf(values, "out");
  const engine = engineOfModule(values, out);
  const compiled = await compileFiles(positionals, values, scalarOnly);
  const kernel = textOf(values, "kernel");
  const types = engine === null ? undefined : out?.replace(/\.(m?)js$/i, ".d.$1ts");
  await checkPlaces(
    [
      ["out", out],
      ["out", types],
      ["kernel", kernel],
    ],
    [values["labels"], values["priors"], ...positionals],
  );
  const result = engine
    ? moduleSource(readTemplate(engine), compiled)
    : name === undefined
      ? compiled.bytes
      : cSource(name, compiled);
  if (out === undefined) io.out(result);
  else await writeNamed("out", out, result);
  if (types !== undefined) await writeNamed("out", types, moduleTypes());
  if (kernel !== undefined) {
    const pages = Math.ceil(compiled.layout.bytes / PAGE);
    await writeNamed("kernel", kernel, standaloneKernel(readScalarKernel(), pages));
  }
  io.err(summaryOf(compiled));
}

/** Returns the engine for the module that `--out` names. Returns null if `--out` names no module. */
function engineOfModule(values: Values, out: string | undefined): "simd" | "ts" | null {
  const wanted = textOf(values, "engine") ?? "simd";
  const isModule = out !== undefined && /\.m?js$/i.test(out);
  if (values["c"] === undefined && out !== undefined && /\.(c|h|cc|cpp|hpp)$/i.test(out))
    throw new UsageError(
      `${out} would hold the bytes of a plan file. Add --c NAME for C source with an array of this name.`,
    );
  if (wanted !== "simd" && wanted !== "ts") throw wrongValue("engine", wanted, "simd or ts");
  if (values["engine"] !== undefined && !isModule)
    throw new UsageError(
      "--engine is for a module: --out detector.mjs. A plan file runs on each engine, where it is loaded.",
    );
  if (isModule && values["c"] !== undefined)
    throw new UsageError(
      `--c writes C source, and ${out} is a module. Write --out FILE.h, or leave out --c.`,
    );
  return isModule ? wanted : null;
}

/** Compiles the plan of the config among the files. The shapes come from --outputs, tensor files, or the config. */
async function compileFiles(
  paths: readonly string[],
  values: Values,
  scalarOnly: boolean,
): Promise<CompiledPlan> {
  const { inputs, setup } = await readNetwork(paths, values);
  const tensors = tensorsAmong(inputs, values);
  const heads = selectOnly(
    [...parseShapes(textsOf(values, "outputs") ?? []), ...tensors.map(headOf)],
    values,
  );
  checkNamesDiffer(heads);
  const options = heads.length === 0 ? setup.options : { ...setup.options, outputs: heads };
  return compilePlan(setup.config, options, dataIn(tensors), scalarOnly);
}

/** Returns a text about the memory that the plan needs, for standard error: standard output may get the plan. */
function summaryOf({ bytes, plan, layout }: CompiledPlan): string {
  const batch = plan.batch === 1 ? "" : `, batch of ${plan.batch}`;
  return [
    plan.about,
    `plan ${bytes.length} bytes (read only), memory ${layout.bytes} bytes: up to ` +
      `${layout.capacity} candidates and ${plan.maxDetections} detections${batch}`,
    ...plan.tensors.map((t, i) => `  slot ${i}: ${shape(t)} ${t.type} at ${layout.slots[i]}`),
    "",
  ].join("\n");
}
