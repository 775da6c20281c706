/**
 * `boxwright/plan`: decodes by a plan file. `boxwright compile` has read config and shapes beforehand, so nothing that
 * reads them is loaded. `embedded/` does the same in C.
 */
import * as A from "../core/abi.ts";
import type { EngineName } from "../core/engine-name.ts";
import { ConfigError, TensorError, mismatch, refuse } from "../core/errors.ts";
import { type TensorInput, type TensorSpec, few, show, specOf } from "../core/tensor.ts";
import { type Detections, detectionsIn, detectionsOf } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import {
  type Inputs,
  type Outputs,
  type Slot,
  asOutputs,
  copyTensors,
  fitTensors,
  forgetTensors,
  inputsOf,
  matchTensors,
  slotsByName,
} from "../decode/inputs.ts";
import { FrameLoop, type Frames, type Ready, isOutOfRange, oneFrame, oneImage } from "../decode/loop.ts";
import type { Stats } from "../decode/stats.ts";
import { type Update, readUpdate } from "../decode/update.ts";
import { checkEngine, chooseEngine, makeEngine, prepareEngine } from "../engine/choose.ts";
import type { Engine } from "../engine/engine.ts";
import type { Thresholds } from "../memory/write.ts";
import { type PlanFile, readPlan } from "./read.ts";

/** Options of `loadPlan`. */
export interface LoadOptions {
  /** Engine that runs. Default: `"auto"`, the fastest that the runtime has. */
  readonly engine?: EngineName | "auto";
}

/** Turns the output tensors of one network into detections, by a plan file. Made by `loadPlan`. */
export interface PlanDecoder {
  /** Engine that runs. */
  readonly engine: EngineName;
  /** Width and height of the network input in pixels; `null` if the plan does not state them. */
  readonly inputSize: readonly [number, number] | null;
  /** Class names by class id; `null` if the plan has none. */
  readonly labels: readonly string[] | null;
  /** Counters, kept up to date in place. */
  readonly stats: Omit<Stats, "plans">;
  /** Tensor slots by name. Write the tensors there and call `decode()` without outputs: nothing is copied. */
  readonly slots: { readonly [name: string]: Slot };
  /**
   * Decodes one image, as `Decoder.decode` does. Without outputs, decodes the contents of the slots.
   * @throws TensorError if the outputs are not those of the plan, or are a batch; RangeError if the frame is not valid
   */
  decode(outputs?: Outputs | TensorInput, frame?: Frame): Detections;
  /**
   * Decodes every image of a batch, as `Decoder.decodeBatch` does.
   * @param frames one frame for all images, or one for each
   */
  decodeBatch(outputs?: Outputs | TensorInput, frames?: Frame | readonly Frame[]): readonly Detections[];
  /**
   * Returns the detections of a packet, as `Decoder.receive` does. A plan file does not name its config, so packets of
   * every config are taken; raw ones have to have the plan's tensors.
   * @throws TensorError if the tensors are not those of the plan; PacketError if the packet's frame is not valid
   */
  receive(packet: PlanReceivable): Detections;
  /**
   * Changes thresholds between frames. The confidence threshold is part of the plan. For a stricter one take the
   * leading detections: they are sorted best first.
   * @throws RangeError for an unknown name or value. Nothing has changed then
   */
  update(thresholds: Omit<Update, "confidenceThreshold">): void;
}

/** A packet of `boxwright/packet`, which knows how it becomes detections. */
export interface PlanReceivable {
  /** Returns the detections, decoded by `decoder` if the packet is raw. `columnsOf` makes columns of records. */
  detectionsBy(
    decoder: Pick<PlanDecoder, "decode"> & { readonly configHash: null },
    columnsOf: typeof detectionsOf,
  ): Detections;
}

/**
 * Makes a decoder from the bytes of a plan file. Compiles the kernel off the main thread if the runtime can.
 * @throws ConfigError if the bytes are no plan, are damaged, or an option is unknown; RangeError for an unknown engine
 * name; Error for an engine that cannot run here
 * @example
 * import { compilePlan } from "boxwright/node";
 * import { loadPlan } from "boxwright/plan";
 *
 * const network = { family: "yolov8", labels: ["cat", "dog"], inputSize: [64, 64] };
 * const file = compilePlan(network, { outputs: [{ name: "output0", dims: [1, 6, 84] }] });
 *
 * const decoder = await loadPlan(file);
 * const data = new Float32Array(6 * 84);
 * // Cell 0: centre 32, 16, size 16 x 8 pixels, score of "dog" 0.75.
 * [32, 16, 16, 8, 0, 0.75].forEach((value, channel) => (data[channel * 84] = value));
 * const [dog] = decoder.decode({ output0: { data, dims: [1, 6, 84] } });
 * console.log(dog.label, dog.confidence, dog.x_min, dog.x_max); // dog 0.75 0.375 0.625
 */
export async function loadPlan(
  bytes: Uint8Array | ArrayBuffer,
  options: LoadOptions = {},
): Promise<PlanDecoder> {
  const wanted = engineOf(options);
  // Read before awaiting: the caller may change the bytes meanwhile.
  const plan = readPlan(bytes);
  await prepareEngine(wanted);
  return decoderOf(plan, wanted);
}

/**
 * Makes a decoder as `loadPlan` does, without a promise. Compiles the kernel on this thread.
 * @throws ConfigError, RangeError, Error as `loadPlan` does
 * @example
 * import { compilePlan } from "boxwright/node";
 * import { loadPlanSync } from "boxwright/plan";
 *
 * const network = { family: "yolov8", classes: 2, inputSize: [64, 64] };
 * const file = compilePlan(network, { outputs: [{ name: "output0", dims: [1, 6, 84] }] });
 *
 * const decoder = loadPlanSync(file, { engine: "ts" });
 * console.log(decoder.engine, decoder.inputSize?.join("x"), decoder.decode().length); // ts 64x64 0
 */
export function loadPlanSync(bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): PlanDecoder {
  const wanted = engineOf(options);
  return decoderOf(readPlan(bytes), wanted);
}

const decoderOf = (plan: PlanFile, wanted: EngineName | "auto"): PlanDecoder =>
  new FileDecoder(plan, makeEngine(chooseEngine(wanted), plan.memoryBytes));

const isObject = (x: unknown): x is object => typeof x === "object" && x !== null && !Array.isArray(x);

/** Returns the engine of the options. Plain JavaScript may pass no options, or others. */
function engineOf(options: LoadOptions | null): EngineName | "auto" {
  const given = options ?? {};
  if (!isObject(given))
    throw new ConfigError([{ path: "options", message: mismatch(show(options), "an object") }]);
  const problems = Object.keys(given)
    .filter((name) => name !== "engine")
    .map((name) => ({
      path: `options.${name}`,
      message: mismatch("an unknown name", "engine: all else is part of the plan"),
    }));
  if (problems.length > 0) throw new ConfigError(problems);
  const wanted = given.engine ?? "auto";
  checkEngine(wanted);
  return wanted;
}

class FileDecoder implements PlanDecoder {
  readonly engine: EngineName;
  readonly inputSize: readonly [number, number] | null;
  readonly labels: readonly string[] | null;
  readonly stats = { frames: 0, candidates: 0, dropped: { capped: 0, notFinite: 0, empty: 0 }, bytes: 0 };
  readonly slots: { readonly [name: string]: Slot };
  /** Rows of the detection columns: the largest `maxDetections`. */
  readonly #rows: number;
  readonly #ready: Ready;
  readonly #inputs: Inputs;
  readonly #loop: FrameLoop;

  constructor(plan: PlanFile, engine: Engine) {
    const { image, slots, outputs, rows, labels, images, inputSize } = plan;
    const { buffer } = engine.memory;
    new Uint8Array(buffer).set(image);
    this.engine = engine.name;
    this.inputSize = inputSize;
    this.labels = labels;
    this.#rows = rows;
    const tensors = slots.map((slot) => slot.spec);
    const addresses = slots.map((slot) => slot.address);
    const places = slots.map((slot) => slot.place);
    this.#inputs = inputsOf(buffer, tensors, addresses, { places, outputs, ownNames: null, known: tensors });
    this.#ready = {
      engine,
      blocks: images.map((i) => i.plan),
      inputSize,
      detections: images.map((i) => detectionsIn(buffer, i, rows, labels)),
    };
    this.#loop = new FrameLoop(this.stats, (_, block) => checkRange(this.#ready, block));
    this.slots = slotsByName(this.#inputs);
    this.stats.bytes = buffer.byteLength;
  }

  decode(outputs?: Outputs | TensorInput, frame?: Frame): Detections {
    return this.#decode(outputs, oneFrame(frame), oneImage);
  }

  decodeBatch(outputs?: Outputs | TensorInput, frames?: Frame | readonly Frame[]): readonly Detections[] {
    return this.#decode(outputs, frames, ({ detections }) => detections);
  }

  receive(packet: PlanReceivable): Detections {
    if (typeof (packet as PlanReceivable | null)?.detectionsBy !== "function")
      refuse("receive", show(packet), "what fromPacket(bytes) of boxwright/packet returned");
    const decode = (outputs?: Outputs | TensorInput, frame?: Frame): Detections =>
      this.decode(outputs, frame);
    return packet.detectionsBy({ decode, configHash: null }, detectionsOf);
  }

  #decode<R>(outputs: Outputs | TensorInput | undefined, given: Frames, resultOf: (ready: Ready) => R): R {
    const frames = given ?? undefined;
    this.#loop.enter();
    try {
      const result = resultOf(this.#ready);
      this.#loop.check(frames, this.inputSize);
      if (outputs !== undefined) this.#copyIn(asOutputs(outputs));
      this.#loop.run(this.#ready, frames);
      return result;
    } finally {
      if (outputs !== undefined) forgetTensors(this.#inputs);
      this.#loop.leave();
    }
  }

  update(update: Update): void {
    const { f32, i32 } = this.#ready.engine.memory;
    const { iouThreshold, maxDetections } = readUpdate<Partial<Thresholds>>(
      update,
      {},
      {
        bound: this.#rows,
        confidenceProblem: () => mismatch("a change", "none: it is part of the plan"),
      },
    );
    for (const block of this.#ready.blocks) {
      if (iouThreshold !== undefined) f32[(block >> 2) + A.P_IOU] = iouThreshold;
      if (maxDetections !== undefined) i32[(block >> 2) + A.P_MAX_DETECTIONS] = maxDetections;
    }
  }

  /** Copies a caller's arrays into the slots: all of them, or none. */
  #copyIn(outputs: Outputs): void {
    const inputs = this.#inputs;
    if (!matchTensors(inputs, outputs) || !fitTensors(inputs)) refuseTensors(inputs, outputs);
    copyTensors(inputs);
  }
}

/** Throws if the kernel met a probability outside 0..1. A plan file does not state which tensor held it. */
function checkRange(ready: Ready, block: number): void {
  if (isOutOfRange(ready, block))
    refuse(
      "",
      "a score outside 0..1",
      'probabilities, or, where the network gives logits, a plan compiled with activation "logits"',
    );
}

/** Throws for the first tensor that is missing, or is not as the plan says. */
function refuseTensors({ tensors, given, outputs: count }: Inputs, outputs: Outputs): void {
  tensors.forEach((spec, i) => {
    const tensor = given[i];
    const isNull = tensor === null && !Array.isArray(outputs) && spec.name in outputs;
    if (tensor === null && !isNull) refuseMissing(spec, outputs, count);
    checkAsPlanned(spec, tensor as TensorInput);
  });
}

function refuseMissing({ name }: TensorSpec, outputs: Outputs, count: number): never {
  const isList = Array.isArray(outputs);
  const list = (isList ? outputs : []) as readonly (TensorInput | null)[];
  if (isList && list.every((t) => (t?.name ?? null) === null))
    refuse(
      `tensor "${name}"`,
      `a list of ${list.length} without names`,
      `${count} as the network gives them, or names`,
    );
  const names = isList ? list.map((t) => t?.name ?? "(no name)") : Object.keys(outputs);
  throw new TensorError(`tensor "${name}" is missing: got outputs ${few(names, 9) || "none"}.`);
}

/** Throws if a tensor differs from the plan. Properties that the tensor does not state are as in the plan. */
function checkAsPlanned(spec: TensorSpec, tensor: TensorInput): void {
  const same = (what: string, a: unknown, b: unknown): unknown =>
    a === b || refuse(`tensor "${spec.name}"`, `${what} ${String(a)}`, `${String(b)} as in the plan`);
  const got = specOf(spec.name, tensor, { type: spec.type });
  same("dims", `[${got.dims.join()}]`, `[${spec.dims.join()}]`);
  same("type", got.type, spec.type);
  same("order", (got.order ?? spec.order ?? "none").toLowerCase(), spec.order ?? "none");
  const { scale, zeroPoint } = specOf(spec.name, tensor, spec);
  same("scale", Math.fround(scale as number), spec.scale);
  same("zeroPoint", Math.fround(zeroPoint), spec.zeroPoint);
}
