/**
 * Checks one application in a thread, then ends. A config or file that takes too much time or memory ends only this
 * thread.
 */
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { ConfigError, createDecoderSync, labelsOf, parseConfig, readModel, type LabelSet, type Model } from "boxwright";
import { inspect } from "boxwright/node";
import type { CheckProblem, CheckRequest, CheckResult } from "./check.ts";

/**
 * Converts options of `createDetector` to those of `createDecoder`: removes `warmUp`, and replaces the name of a label
 * set by its labels.
 */
function decoderOptions(options: Readonly<Record<string, unknown>>): object {
  const rest: Record<string, unknown> = { ...options };
  delete rest["warmUp"];
  if (typeof rest["labels"] === "string") rest["labels"] = labelsOf(rest["labels"] as LabelSet);
  return rest;
}

/** Returns the outputs of a model, or none if the file leaves a shape or type open. */
function outputsOf(model: Model): Parameters<typeof inspect>[1] {
  const specs = model.outputs.map(({ name, dims, type, quantisation }) => ({
    ...{ name, dims, type },
    ...(quantisation?.scale.length === 1 && { scale: quantisation.scale[0], zeroPoint: quantisation.zeroPoint[0] }),
  }));
  const isOpen = specs.some(({ dims, type }) => dims === null || dims.includes(null) || type === null);
  return isOpen ? [] : (specs as unknown as Parameters<typeof inspect>[1]);
}

/** Returns the option problems that do not depend on the network: unknown names, and values out of range. */
function optionProblems(stated: object): CheckProblem[] {
  try {
    // Skip labels and classes: they depend on the network, and the placeholder network of this check has one class.
    const others = Object.fromEntries(
      Object.entries(stated).filter(([name]) => name !== "labels" && name !== "classes"),
    );
    createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] }, others);
    return [];
  } catch (error) {
    return problemsOf(error).filter(({ path }) => path.startsWith("options."));
  }
}

async function describe({ config, options, modelPath }: CheckRequest): Promise<string> {
  const stated = decoderOptions(options);
  const model = modelPath === null ? null : await readModel(readFileSync(modelPath));
  if (config === null) {
    const message = "got neither a config nor a model file, expected one of them";
    if (model === null) throw new ConfigError([{ path: "", message }, ...optionProblems(stated)]);
    createDecoderSync(model, stated);
    return inspect(model, [], stated).text;
  }
  parseConfig(config);
  createDecoderSync(config, stated);
  return inspect(config, model === null ? [] : outputsOf(model), stated).text;
}

/** Returns all problems that an error holds. A ConfigError lists several problems. */
function problemsOf(error: unknown): CheckProblem[] {
  if (error instanceof ConfigError) return error.problems.map(({ path, message }) => ({ path, message }));
  return [{ path: "", message: error instanceof Error ? error.message : String(error) }];
}

const result: CheckResult = await describe(workerData as CheckRequest).then(
  (description) => ({ description }),
  (error: unknown) => ({ problems: problemsOf(error) }),
);
parentPort?.postMessage(result);
