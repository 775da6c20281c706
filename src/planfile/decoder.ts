/**
 * The entry `boxwright/plan`: decodes by a plan file. `boxwright compile` has already read the config and the shapes,
 * so this entry has no code for them. `embedded/` does the same in C.
 */
import * as A from "../core/abi.ts";
import type { EngineName } from "../core/engine-name.ts";
import { ConfigError, TensorError, mismatch, refuse, refuseConfig, problemOf } from "../core/errors.ts";
import { namesFor } from "../core/names.ts";
import { type TensorInput, type TensorSpec, few, isKeyed, show, specOf } from "../core/tensor.ts";
import { FrameDecoder, type Workspace, bindMethods } from "../decode/base.ts";
import { type Best, recordsOf } from "../decode/best.ts";
import { type DetectionFields, type Detections, detectionsIn } from "../decode/detections.ts";
import { detectionsOf } from "../decode/records.ts";
import type { Frame } from "../decode/frame.ts";
import { frameChecks } from "../checks/frame-checks.ts";
import {
  type Inputs,
  type Outputs,
  type Slot,
  copyTensors,
  fitTensors,
  inputsOf,
  matchTensors,
  slotsByName,
} from "../decode/inputs.ts";
import type { Ready } from "../decode/loop.ts";
import type { Stats } from "../decode/stats.ts";
import { checkTaskList } from "../decode/tasks.ts";
import { type Update, readUpdate } from "../decode/update.ts";
import { checkEngine, chooseEngine, makeEngine, prepareEngine, provideTs } from "../engine/choose.ts";
import { tsEngine } from "../engine/ts/index.ts";
import type { Engine } from "../engine/engine.ts";
import type { Thresholds } from "../memory/write.ts";
import { TASK_BOXES, TASK_CELLS, TASK_KEYPOINTS } from "./format.ts";
import { type PlanFile, readPlan } from "./read.ts";
import { type AttachedTask, type FileTask, attachTaskOf } from "./tasks.ts";

/** Options of `loadPlan`. */
export interface LoadOptions {
  /** Engine that runs. Default: `"auto"`, the fastest engine that the runtime can run. */
  readonly engine?: EngineName | "auto";
  /**
   * Called once for each new note. Notes are about scores that are all 0 or far below the threshold for many frames,
   * and about boxes that are NaN, infinite or outside the image. A decoder of `createDecoder` knows more facts, so it
   * checks more. The callback must not call `decode` of the same decoder, whose result is not returned yet.
   */
  readonly onNote?: (note: string) => void;
  /**
   * True: each result is a copy that later frames do not change. Default false: the next frame overwrites the result.
   */
  readonly fresh?: boolean;
  /** Tasks that read more than boxes: some of `masks`, `oriented`, `peaks` and `pose` of `boxwright/plan`. */
  readonly tasks?: readonly FileTask[];
}

/** Converts the output tensors of one network to detections, by a plan file. Made by `loadPlan`. */
export interface PlanDecoder {
  /** Engine that runs. */
  readonly engine: EngineName;
  readonly inputSize: readonly [number, number] | null;
  /** Class names by class id; `null` if the plan has none. */
  readonly labels: readonly string[] | null;
  /** Counters, updated in place. */
  readonly stats: Omit<Stats, "plans">;
  /** Tensor slots by name. To avoid a copy, write the tensors into their slots and call `decode()` without outputs. */
  readonly slots: { readonly [name: string]: Slot };
  /**
   * The best score of the last frame, even below the threshold, as in `Decoder.best`. `null` before the first frame.
   */
  readonly best: Best | null;
  /**
   * Decodes one image, as `Decoder.decode` does. Without outputs, decodes the contents of the slots.
   * @throws TensorError if the outputs differ from the plan's, are a batch, or have boxes in another unit; RangeError
   * if the frame is wrong
   */
  decode(outputs?: Outputs | TensorInput, frame?: Frame): Detections;
  /**
   * Decodes every image of a batch, as `Decoder.decodeBatch` does.
   * @param frames one frame for all images, or one for each
   */
  decodeBatch(outputs?: Outputs | TensorInput, frames?: Frame | readonly Frame[]): readonly Detections[];
  /**
   * Returns the detections of a packet, as `Decoder.receive` does. A plan file does not contain the hash of its config,
   * so packets of every config are accepted. The tensors of a raw packet must fit the plan.
   * @throws TensorError if the tensors differ from the plan's; PacketError if the packet's frame is wrong
   */
  receive(packet: PlanReceivable): Detections;
  /**
   * Changes thresholds between frames, except the confidence threshold, which is part of the plan. To apply a higher
   * one, use only the first detections: they are sorted, best first.
   * @throws RangeError for an unknown name or a wrong value; then nothing has changed
   */
  update(thresholds: Omit<Update, "confidenceThreshold">): void;
}

/** A packet that `receive` accepts. */
export interface PlanReceivable {
  /**
   * Returns the packet's detections. If the packet is raw, `decoder` decodes it. `columnsOf` makes columns of records.
   */
  detectionsBy(
    decoder: Pick<PlanDecoder, "decode"> & { readonly configHash: null },
    columnsOf: (rows: readonly DetectionFields[], sources: readonly number[]) => Detections,
  ): Detections;
}

/**
 * Makes a decoder from the bytes of a plan file. Compiles the kernel off the main thread if the runtime can.
 * @throws ConfigError if the bytes are no plan file or are damaged, or if an option is unknown; RangeError for an
 * unknown engine name; Error for an engine that cannot run here
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
  const read = readOptions(options);
  // Read the file before the first await, since the caller may change the bytes meanwhile.
  const plan = readPlan(bytes);
  await prepareEngine(read.engine);
  return decoderOf(plan, read);
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
  const read = readOptions(options);
  provideTs(tsEngine);
  return decoderOf(readPlan(bytes), read);
}

/** Options of `loadPlan` after the check. */
interface ReadOptions {
  readonly engine: EngineName | "auto";
  readonly onNote: LoadOptions["onNote"];
  readonly fresh: boolean | undefined;
  readonly tasks: readonly FileTask[];
}

const decoderOf = (plan: PlanFile, options: ReadOptions): PlanDecoder =>
  new FileDecoder(plan, makeEngine(chooseEngine(options.engine), plan.memoryBytes), options);

const NAMES = ["engine", "onNote", "fresh", "tasks"];

/** Checks and copies the options, since plain JavaScript may pass anything. */
function readOptions(options: LoadOptions | null): ReadOptions {
  const given = options ?? {};
  if (!isKeyed(given)) return refuseConfig("options", show(options), "an object");
  const { engine, onNote, fresh, tasks, ...others } = given as LoadOptions;
  const problems = Object.keys(others).map((name) =>
    problem(name, "an unknown name", namesFor(name, NAMES, ": all else is part of the plan")),
  );
  if (typeof (onNote ?? readOptions) !== "function")
    problems.push(problem("onNote", show(onNote), "a function"));
  if (typeof (fresh ?? false) !== "boolean") problems.push(problem("fresh", show(fresh), "true or false"));
  if (problems.length > 0) throw new ConfigError(problems);
  const wanted = engine ?? "auto";
  checkEngine(wanted);
  checkTaskList(tasks ?? [], ["pose", "segment", "oriented", "peaks"], ["attachFile"]);
  return { engine: wanted, onNote, fresh, tasks: tasks ?? [] };
}

const problem = (name: string, got: string, expected: string) => problemOf(`options.${name}`, got, expected);

const newStats = () => ({
  frames: 0,
  candidates: 0,
  dropped: { capped: 0, notFinite: 0, empty: 0 },
  bytes: 0,
});

class FileDecoder extends FrameDecoder<Workspace, ReturnType<typeof newStats>> implements PlanDecoder {
  readonly engine: EngineName;
  readonly inputSize: readonly [number, number] | null;
  readonly labels: readonly string[] | null;
  /** Rows of the detection columns: the largest `maxDetections`. */
  readonly #rows: number;
  readonly #work: Workspace;
  /** Task of the network. `null` if the network has boxes alone. */
  readonly #task: AttachedTask | null;
  readonly #tasks: readonly FileTask[];

  constructor(plan: PlanFile, engine: Engine, { onNote, fresh, tasks }: ReadOptions) {
    const { image, slots, outputs, rows, labels, images, inputSize } = plan;
    super(newStats(), { onNote, fresh, checks: frameChecks, labels, classes: null });
    bindMethods(this, ["decode", "decodeBatch", "update", "receive"]);
    const { buffer } = engine.memory;
    new Uint8Array(buffer).set(image);
    this.engine = engine.name;
    this.inputSize = inputSize;
    this.labels = labels;
    this.#rows = rows;
    const tensors = slots.map((slot) => slot.spec);
    const addresses = slots.map((slot) => slot.address);
    const places = slots.map((slot) => slot.place);
    const detections = images.map((i) => detectionsIn(buffer, i, rows, labels));
    this.#work = {
      engine,
      inputs: inputsOf(buffer, tensors, addresses, { places, outputs, ownNames: null, known: tensors }),
      blocks: images.map((i) => i.plan),
      inputSize,
      // Refuse crops for masks and oriented boxes, whose coordinates cannot be converted back to the photo.
      crops: [TASK_BOXES, TASK_KEYPOINTS, TASK_CELLS].includes(plan.task) ? "upright" : "none",
      inPhoto: false,
      detections,
    };
    this.#tasks = tasks;
    this.#task = attachTaskOf({ plan, engine, detections, note: (text) => this.note(text) }, tasks);
    this.slots = slotsByName(this.#work.inputs);
    this.stats.bytes = buffer.byteLength;
    this.beginPlan(this.#work, [], labels);
  }

  receive(packet: PlanReceivable): Detections {
    return this.receiveBy(packet, { decode: this.decode, configHash: null });
  }

  protected detectionsOfRecords(rows: readonly DetectionFields[], sources: readonly number[]): Detections {
    return detectionsOf(rows, sources, this.#tasks, this.#task?.known);
  }

  protected get workspace(): Workspace {
    return this.#work;
  }

  protected get inputSizeIfKnown(): readonly [number, number] | null {
    return this.inputSize;
  }

  protected get holdsTensors(): boolean {
    return true;
  }

  protected workInSlots(): Workspace {
    return this.#work;
  }

  protected workFor(outputs: Outputs): Workspace {
    const { inputs } = this.#work;
    if (!matchTensors(inputs, outputs) || !fitTensors(inputs)) refuseTensors(inputs, outputs);
    return this.#work;
  }

  /** Copies the caller's arrays into the slots. If one array is refused, copies none. */
  protected bringIn({ inputs, blocks }: Workspace): readonly number[] {
    copyTensors(inputs);
    return blocks;
  }

  protected beforeScan(): void {
    // Nothing to check: the checks before a scan need a `Plan`, which a plan file lacks.
  }

  /** Returns an error that names no tensor, since a plan file does not state which tensor holds the scores. */
  protected rangeError(): TensorError {
    return new TensorError(
      mismatch(
        "a score outside 0..1",
        'probabilities, or, where the network gives logits, a plan compiled with scores "logits"',
      ),
    );
  }

  protected finish(_: Workspace, image: number, block: number, frame?: Frame): void {
    this.#task?.afterImage(image, block, frame);
  }

  /**
   * Returns the smallest confidence threshold of the heads. A head record holds the smallest f32 that passes, so
   * rounding it to 6 digits recovers the original threshold.
   */
  protected lowestThreshold({ engine: { memory }, blocks }: Ready): number {
    const thresholds = recordsOf(memory, blocks[0]).map((r) => memory.f32[r + A.H_THRESHOLD]);
    return Number(Math.min(...thresholds).toPrecision(6));
  }

  update(update: Update): void {
    const { f32, i32 } = this.#work.engine.memory;
    const { iouThreshold, maxDetections } = readUpdate<Partial<Thresholds>>(
      update,
      {},
      {
        bound: this.#rows,
        confidenceProblem: () => mismatch("a change", "none: it is part of the plan"),
      },
    );
    for (const block of this.#work.blocks) {
      if (iouThreshold !== undefined) f32[(block >> 2) + A.P_IOU] = iouThreshold;
      if (maxDetections !== undefined) i32[(block >> 2) + A.P_MAX_DETECTIONS] = maxDetections;
    }
  }
}

/** Throws for the first tensor that is missing or differs from the plan. */
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

/** Throws if a tensor differs from the plan. A property that the tensor does not state counts as equal. */
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
