/** The function `decode` of the modules that `boxwright compile --out detector.mjs` writes, each for one network. */
import * as A from "../core/abi.ts";
import { TensorError, refuse } from "../core/errors.ts";
import type { Memory } from "../core/memory.ts";
import { type TensorInput, type TensorSpec, shape } from "../core/tensor.ts";
import { type Detections, detectionsIn, setFrameSize, setLength } from "../decode/detections.ts";
import { type Frame, affineOf, checkFrame, uprightOf } from "../decode/frame.ts";
import {
  type Outputs,
  asOutputs,
  copyTensors,
  fitTensors,
  forgetTensors,
  inputsOf,
  matchTensors,
} from "../decode/inputs.ts";
import { turnBack } from "../decode/turn.ts";
import type { DetectionColumns } from "../memory/layout.ts";
import { IDENTITY, writeAffine } from "../memory/write.ts";

/** The plan inside the module, as plain data. */
export interface EmbeddedPlan {
  /** Words to copy to the start of memory. */
  readonly image: readonly number[];
  readonly memoryBytes: number;
  /** Address of the plan block. */
  readonly block: number;
  readonly columns: DetectionColumns;
  /** Count of rows in the detection columns. */
  readonly rows: number;
  readonly labels: readonly string[] | null;
  readonly tensors: readonly TensorSpec[];
  /** Address of each tensor. */
  readonly addresses: readonly number[];
  /** Index of each tensor among the network's outputs. */
  readonly places: readonly number[];
  /** Count of the network's outputs. */
  readonly outputs: number;
  readonly inputSize: readonly [number, number] | null;
}

/** An engine with its own memory. */
export interface SmallEngine {
  readonly memory: Memory;
  readonly decode: (block: number) => number;
}

/** Returns `decode` for a plan. The first call allocates the memory and compiles the kernel. */
export function decoderOf(
  plan: EmbeddedPlan,
  makeEngine: (bytes: number) => SmallEngine,
): (outputs: Outputs | TensorInput, frame?: Frame) => Detections {
  let work: ReturnType<typeof workOf> | undefined;
  return (outputs, frame) => {
    work ??= workOf(plan, makeEngine(plan.memoryBytes));
    return decodeFrame(plan, work, asOutputs(outputs), frame ?? undefined);
  };
}

function workOf({ image, columns, rows, labels, tensors, ...plan }: EmbeddedPlan, engine: SmallEngine) {
  const { buffer } = engine.memory;
  new Int32Array(buffer).set(image);
  return {
    engine,
    inputs: inputsOf(buffer, tensors, plan.addresses, {
      places: plan.places,
      outputs: plan.outputs,
      ownNames: null,
      known: tensors,
    }),
    detections: detectionsIn(buffer, columns, rows, labels),
  };
}

function decodeFrame(
  { block, inputSize, tensors }: EmbeddedPlan,
  { engine, inputs, detections }: ReturnType<typeof workOf>,
  outputs: Outputs,
  frame: Frame | undefined,
): Detections {
  if (frame) checkFrame(frame, inputSize);
  if (frame?.crop?.angle)
    refuse("frame", `a crop that is turned by ${frame.crop.angle}`, "an upright one: boxes stay upright");
  if (!matchTensors(inputs, outputs) || !fitTensors(inputs))
    throw new TensorError(
      `the outputs are not those that this module was compiled for: ${tensors.map((t) => `${shape(t)} ${t.type}`).join(", ")}. ` +
        "Compile it again for others.",
    );
  copyTensors(inputs);
  forgetTensors(inputs);
  writeAffine(engine.memory, block, frame ? affineOf(uprightOf(frame), inputSize) : IDENTITY);
  setLength(detections, engine.decode(block));
  if (engine.memory.i32[(block >> 2) + A.P_OUT_OF_RANGE] > 0)
    refuse("", "a score outside 0..1", 'probabilities, or a module compiled with scores "logits"');
  if (frame?.rotation) turnBack(detections, frame.rotation);
  setFrameSize(detections, frame ?? inputSize ?? undefined);
  return detections;
}
