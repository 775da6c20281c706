/**
 * The columns of the benchmark, each behind the same two functions. Loaded in a process of its own, one at a
 * time.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { EngineName, TensorInput } from "../src/entries/index.ts";
import { define } from "./definition.ts";
import { loadPackage, type Detections } from "./package.ts";
import { NotApplicable, type Prepared } from "./peers/common.ts";
import {
  CLASSES,
  INPUT,
  INPUT_V3,
  IOU_THRESHOLD,
  MAX_DETECTIONS,
  V3_ANCHORS,
  V3_MAPS,
  type Workload,
} from "./workloads.ts";

/**
 * `resident`: the tensor already stands in the decoder's slot. `array`: it comes in an array of the caller's.
 */
export type Mode = "resident" | "array";

export interface Column {
  readonly engine: string;
  readonly mode: Mode;
  /** What the row answers differs by design, so its digest is shown but not compared. */
  readonly other?: boolean;
}

const OURS = ["simd", "scalar", "ts"] as const;

/** `native` runs apart, see `native.ts`. */
export const COLUMNS: readonly Column[] = [
  ...OURS.map((engine): Column => ({ engine, mode: "resident" })),
  ...OURS.map((engine): Column => ({ engine, mode: "array" })),
  // A part of a decode: its answer is a number of candidates, and that is held against the definition's.
  { engine: "simd-scan", mode: "resident", other: true },
  { engine: "js-best", mode: "array" },
  { engine: "js-typical", mode: "array" },
  { engine: "ort-node", mode: "array" },
  { engine: "ort-web", mode: "array" },
  { engine: "ort-node-multi", mode: "array", other: true },
  { engine: "ort-web-multi", mode: "array", other: true },
  { engine: "tfjs", mode: "array" },
];

/** Typed options of the public interface; what a user with this network would write. */
export function optionsOf(workload: Workload): Record<string, unknown> {
  const common = {
    classes: CLASSES,
    inputSize: [INPUT, INPUT],
    confidenceThreshold: workload.threshold,
    iouThreshold: IOU_THRESHOLD,
    maxDetections: MAX_DETECTIONS,
  };
  const roles = { boxes: "boxes", scores: "scores" };
  if (workload.kind === "nms")
    return { ...common, family: "boxes", classes: 1, boxFormat: "xyxy", coordinates: "pixels", roles };
  if (workload.kind === "v5") return { ...common, family: "yolov5" };
  if (workload.kind === "v3")
    return {
      ...common,
      family: "yolov3",
      inputSize: [INPUT_V3, INPUT_V3],
      activation: "logits",
      anchors: V3_ANCHORS,
      anchorMasks: Object.fromEntries(V3_MAPS.map(({ side, mask }) => [`side${side}`, mask])),
    };
  return {
    ...common,
    family: "yolov8",
    activation: "sigmoid",
    ...(workload.type === "int8" ? { roles } : {}),
  };
}

/** Tensors as `decode` takes them. Loose boxes become the two outputs of a network that decodes by itself. */
export function outputsOf(workload: Workload): Record<string, TensorInput> {
  const n = workload.boxes ?? 0;
  return Object.fromEntries(
    Object.entries(workload.tensors).map(([name, tensor]) => [
      name,
      workload.kind === "nms" ? { ...tensor, dims: name === "boxes" ? [1, n, 4] : [1, n, 1] } : tensor,
    ]),
  );
}

async function prepareOurs(engine: EngineName, mode: Mode, workload: Workload): Promise<Prepared> {
  const { createDecoderSync, nms } = await loadPackage();
  if (workload.kind === "nms" && mode === "array") {
    const boxes = workload.tensors.boxes.data;
    const scores = workload.tensors.scores.data;
    const options = { iouThreshold: IOU_THRESHOLD, maxDetections: MAX_DETECTIONS, engine };
    let kept = new Int32Array(0);
    return {
      run: () => (kept = nms(boxes, scores, options) as typeof kept).length,
      found: () => ({ count: kept.length, kept, boxes: [], scores: [], classIds: [] }),
    };
  }
  const outputs = outputsOf(workload);
  const decoder = createDecoderSync(optionsOf(workload), { engine, outputs });
  for (const [name, { data }] of Object.entries(outputs)) {
    (decoder.slots[name].data as Float32Array).set(data as Float32Array);
  }
  // The first decode looks at every value once; that is not what is measured.
  let found: Detections = decoder.decode(outputs);
  return {
    run:
      mode === "resident"
        ? () => (found = decoder.decode()).length
        : () => (found = decoder.decode(outputs)).length,
    found: () => ({
      count: found.length,
      boxes: found.boxes,
      scores: found.scores,
      classIds: found.classIds,
      kept: found.sources,
    }),
  };
}

/** Plans begin behind the 64 bytes that are never handed out. */
const PLAN = 64;

/**
 * The first verb of the kernel alone, from scores to candidates, over a copy of the image that the decoder
 * wrote.
 */
async function prepareScan(workload: Workload): Promise<Prepared> {
  if (workload.kind === "nms") throw new NotApplicable("measured where there is a tensor to scan");
  const { createDecoderSync } = await loadPackage();
  const outputs = outputsOf(workload);
  const decoder = createDecoderSync(optionsOf(workload), { engine: "simd", outputs });
  decoder.decode(outputs);
  for (const [name, { data }] of Object.entries(outputs))
    (decoder.slots[name].data as Float32Array).set(data as Float32Array);
  const image = new Uint8Array(Object.values(decoder.slots)[0].data.buffer);
  const pages = image.length / 65536;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  new Uint8Array(memory.buffer).set(image);
  const bytes = readFileSync(fileURLToPath(import.meta.resolve("boxwright/simd.wasm")));
  const kernel = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  const scan = kernel.exports.scan as (plan: number) => number;
  const { candidates } = define(workload);
  const count = scan(PLAN);
  if (count !== candidates) throw new Error(`scan: got ${count} candidates, expected ${candidates}`);
  return {
    run: () => scan(PLAN),
    found: () => ({ count: scan(PLAN), boxes: [], scores: [], classIds: [], kept: [] }),
  };
}

export async function prepare({ engine, mode }: Column, workload: Workload): Promise<Prepared> {
  switch (engine) {
    case "simd":
    case "scalar":
    case "ts":
      return prepareOurs(engine, mode, workload);
    case "simd-scan":
      return prepareScan(workload);
    case "js-best":
      return (await import("./peers/js-best.ts")).prepare(workload);
    case "js-typical":
      return (await import("./peers/js-typical.ts")).prepare(workload);
    case "tfjs":
      return (await import("./peers/tfjs.ts")).prepare(workload);
    case "ort-node":
    case "ort-node-multi":
    case "ort-web":
    case "ort-web-multi": {
      const { prepareOrt } = await import("./peers/ort.ts");
      return prepareOrt(engine.startsWith("ort-node") ? "node" : "web", workload, engine.endsWith("multi"));
    }
    default:
      throw new NotApplicable(`no engine of that name: ${COLUMNS.map((c) => c.engine).join(", ")}`);
  }
}
