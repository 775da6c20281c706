/** The rows of the benchmark: our engines and other programs (peers), each prepared as functions `run` and `answer`. */
import { loadPackage, type Detections, type EngineName, type TensorInput } from "./package.ts";
import { keptOnly, NotApplicable, type Prepared } from "./peers/prepared.ts";
import { optionsOf } from "./typed-options.ts";
import { nmsOptions, type Workload } from "./workloads.ts";

export { optionsOf };

export interface Row {
  readonly engine: string;
  /**
   * Place of the tensor before a decode: the decoder's slot, the caller's array, or the memory of the peer's runtime.
   */
  readonly input: "slot" | "array" | "runtime";
}

export const OUR_ENGINES = ["simd", "scalar", "ts"] as const satisfies readonly EngineName[];

export const ROWS: readonly Row[] = [
  ...OUR_ENGINES.map((engine): Row => ({ engine, input: "slot" })),
  ...OUR_ENGINES.map((engine): Row => ({ engine, input: "array" })),
  { engine: "js", input: "array" },
  { engine: "ort-node", input: "array" },
  { engine: "ort-web", input: "array" },
  { engine: "tfjs", input: "runtime" },
];

export const isOurs = ({ engine }: Row): boolean => OUR_ENGINES.some((name) => name === engine);

/** Returns the tensors for `decode`. Boxes without a network become two outputs of a network that decodes by itself. */
export function outputsOf({ kind, boxes, tensors }: Workload): Record<string, TensorInput> {
  if (kind !== "nms") return tensors;
  return {
    boxes: { ...tensors.boxes, dims: [1, boxes, 4] },
    scores: { ...tensors.scores, dims: [1, boxes, 1] },
  };
}

async function prepareSuppression(engine: EngineName, workload: Workload, entry: string): Promise<Prepared> {
  const { nms } = await loadPackage(entry);
  const boxes = workload.tensors.boxes.data;
  const scores = workload.tensors.scores.data;
  const options = { ...nmsOptions(workload), engine };
  let kept = nms(boxes, scores, options);
  return { run: () => (kept = nms(boxes, scores, options)).length, answer: () => keptOnly(kept) };
}

type Decode = (outputs?: object) => Detections | readonly Detections[];

async function prepareDecoder({ engine, input }: Row, workload: Workload, entry: string): Promise<Prepared> {
  const { createDecoderSync } = await loadPackage(entry);
  const outputs = outputsOf(workload);
  const decoder = createDecoderSync(optionsOf(workload), { engine: engine as EngineName, outputs });
  // `--against` may name a release without `decodeBatch`, whose `decode` returns a list.
  const { decodeBatch, decode: decodeOne } = decoder as unknown as { decodeBatch?: Decode; decode: Decode };
  const decode = (workload.images > 1 && decodeBatch ? decodeBatch : decodeOne).bind(decoder);
  for (const [name, { data }] of Object.entries(outputs))
    (decoder.slots[name].data as Float32Array).set(data as Float32Array);
  // The first decode checks every value. Exclude it from the measurement.
  let found = decode(outputs);
  const run = input === "slot" ? () => (found = decode()) : () => (found = decode(outputs));
  const columns = (pick: (of: Detections) => ArrayLike<number>): number[] =>
    [found].flat().flatMap((of) => Array.from(pick(of)));
  return {
    run: () => lengthOf(run()),
    answer: () => ({
      count: [found].flat().reduce((sum, { length }) => sum + length, 0),
      boxes: columns(({ boxes, length }) => boxes.subarray(0, 4 * length)),
      scores: columns(({ scores, length }) => scores.subarray(0, length)),
      classIds: columns(({ classIds, length }) => classIds.subarray(0, length)),
      kept: columns(({ sources, length }) => sources.subarray(0, length)),
    }),
  };
}

function lengthOf(found: Detections | readonly Detections[]): number {
  if (!Array.isArray(found)) return (found as Detections).length;
  let sum = 0;
  for (const { length } of found as readonly Detections[]) sum += length;
  return sum;
}

/** Prepares a row in this process. `entry` is the URL of our package. */
export async function prepare(row: Row, workload: Workload, entry: string): Promise<Prepared> {
  if (isOurs(row))
    return workload.kind === "nms" && row.input === "array"
      ? prepareSuppression(row.engine as EngineName, workload, entry)
      : prepareDecoder(row, workload, entry);
  switch (row.engine) {
    case "js":
      return (await import("./peers/usual-js.ts")).prepare(workload);
    case "tfjs":
      return (await import("./peers/tfjs.ts")).prepare(workload);
    case "ort-node":
      return (await import("./peers/ort.ts")).prepare("node", workload);
    case "ort-web":
      return (await import("./peers/ort.ts")).prepare("web", workload);
    default:
      throw new NotApplicable(`no engine is called ${row.engine}`);
  }
}
