/**
 * `boxwright/plan`: decodes by a plan file, in which `boxwright compile` has settled config and shapes beforehand, so that what reads configs
 * and shapes is not loaded. `planfile.ts` documents the file; `embedded/boxwright.c` is the same in C.
 */
import type { EngineName } from "../core/engine-name.ts";
import { checkEngine, chooseEngine, makeEngine, prepareEngine } from "../engine/choose.ts";
import type { Engine } from "../engine/engine.ts";
import * as A from "../core/abi.ts";
import { crc32 } from "../core/crc32.ts";
import { type Detections, detectionsIn } from "../decode/detections.ts";
import { ConfigError, TensorError, mismatch, refuse } from "../core/errors.ts";
import type { Thresholds } from "../memory/write.ts";
import type { DetectionColumns } from "../memory/layout.ts";
import type { Frame } from "../decode/frame.ts";
import * as F from "./format.ts";
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
import {
  ELEMENTS,
  ORDERS,
  TYPES,
  type TensorInput,
  type TensorSpec,
  few,
  isBytes,
  kindOf,
  show,
  specOf,
  volume,
} from "../core/tensor.ts";

/** Options of `loadPlan`. */
export interface LoadOptions {
  /** Which engine runs; default: the fastest that the runtime has. */
  readonly engine?: EngineName | "auto";
}

/** Turns output tensors of one network into detections, by a plan file. Made by `loadPlan`. */
export interface PlanDecoder {
  /** Which engine runs. */
  readonly engine: EngineName;
  /** Width and height of the network input in pixels; `null`: the plan does not say. */
  readonly inputSize: readonly [number, number] | null;
  /** Class names by class number; `null`: the plan has none. */
  readonly labels: readonly string[] | null;
  /** Counters, kept up to date in place. */
  readonly stats: Omit<Stats, "plans">;
  /** Tensor slots by name. */
  readonly slots: { readonly [name: string]: Slot };
  /**
   * Decodes one image, as `Decoder.decode` does; without outputs, what stands in the slots.
   * @throws TensorError if the outputs are not those of the plan, or are a batch; RangeError if the frame is none
   */
  decode(outputs?: Outputs | TensorInput, frame?: Frame): Detections;
  /** Decodes every image of a batch, as `Decoder.decodeBatch` does. */
  decodeBatch(outputs?: Outputs | TensorInput, frames?: Frame | readonly Frame[]): readonly Detections[];
  /**
   * Changes thresholds between frames. The confidence threshold is part of the plan. For a stricter one take the leading
   * detections: they are sorted best first.
   * @throws RangeError for an unknown name or value; then nothing has changed
   */
  update(thresholds: Omit<Update, "confidenceThreshold">): void;
}

/**
 * Makes a decoder from the bytes of a plan file. Compiles the kernel off the main thread where the runtime can.
 * @throws ConfigError where the bytes are no plan, or damaged, or an option is unknown, with got and expected; RangeError for an engine of
 * another name, Error for one that cannot run here
 */
export async function loadPlan(
  bytes: Uint8Array | ArrayBuffer,
  options: LoadOptions = {},
): Promise<PlanDecoder> {
  const wanted = engineOf(options);
  // before anything is waited for, in which the bytes may change
  const plan = readPlan(bytes);
  await prepareEngine(wanted);
  return decoderOf(plan, wanted);
}

/** `loadPlan` without a promise: the kernel is compiled on this thread. */
export function loadPlanSync(bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): PlanDecoder {
  const wanted = engineOf(options);
  return decoderOf(readPlan(bytes), wanted);
}

const decoderOf = (plan: PlanFile, wanted: EngineName | "auto"): PlanDecoder =>
  new FileDecoder(plan, makeEngine(chooseEngine(wanted), plan.memoryBytes));

const no = (path: string, got: string, expected: string): never => {
  throw new ConfigError([{ path, message: mismatch(got, expected) }]);
};

const isObject = (x: unknown): x is object => typeof x === "object" && x !== null && !Array.isArray(x);

/** In plain JavaScript there may be no options, or others. */
function engineOf(options: LoadOptions | null): EngineName | "auto" {
  if (!isObject(options ?? {})) no("options", show(options), "an object");
  for (const name of Object.keys(options ?? {}))
    if (name !== "engine") no(`options.${name}`, "an unknown name", "engine: all else is part of the plan");
  const wanted = options?.engine ?? "auto";
  checkEngine(wanted);
  return wanted;
}

/** What a plan file says. */
interface PlanFile {
  /** The beginning of memory. */
  readonly image: Uint8Array;
  readonly memoryBytes: number;
  /** Rows of the detection columns. */
  readonly rows: number;
  readonly inputSize: readonly [number, number] | null;
  readonly labels: readonly string[] | null;
  /** For each image of the batch: addresses of its plan block and of its detection columns. */
  readonly images: readonly ({ readonly plan: number } & DetectionColumns)[];
  readonly tensors: readonly TensorSpec[];
  /** Addresses of the slots. */
  readonly addresses: readonly number[];
  /** Places of the tensors among the outputs of the network, and how many these are. */
  readonly places: readonly number[];
  readonly outputs: number;
}

const refusePlan = (got: string, expected: string): never => no("plan", got, expected);

/** The bytes of the file, checked for length, checksum and versions. */
function wholeFile(given: Uint8Array | ArrayBuffer): Uint8Array {
  if (given instanceof Promise) refusePlan("a promise", "what it resolves to: await it");
  const isBuffer = kindOf(given) === "ArrayBuffer";
  if (!isBuffer && !isBytes(given))
    refusePlan(show(given), "the bytes of a plan file, a Uint8Array or an ArrayBuffer");
  const head = F.FILE_WORDS * 4;
  const { buffer, byteOffset, byteLength } = given as Uint8Array;
  // of what is detached no view can be made
  const whole =
    byteLength === 0
      ? new Uint8Array(0)
      : isBuffer
        ? new Uint8Array(given as ArrayBuffer)
        : new Uint8Array(buffer, byteOffset, byteLength);
  const view = new DataView(whole.buffer, whole.byteOffset, whole.length);
  const word = (index: number): number => view.getUint32(index * 4, true);
  const is = (what: string, got: number, expected: number): unknown =>
    got === expected || refusePlan(`${what} ${got}`, String(expected));
  if (byteLength >= 4 && word(F.F_MAGIC) !== F.PLAN_MAGIC)
    refusePlan(
      `a file that begins with ${show(String.fromCharCode(...whole.subarray(0, 8)))}`,
      "one made by boxwright compile, without --c",
    );
  if (byteLength < head) refusePlan(`${byteLength} bytes`, `at least ${head}`);
  is("a file of version", word(F.F_VERSION), F.PLAN_VERSION);
  const length = word(F.F_FILE_BYTES);
  // behind it there may be other things, as in flash
  if (byteLength < length || length < head)
    refusePlan(`${byteLength} bytes`, `${length}: was the file cut short, or read or written as text?`);
  const bytes = whole.subarray(0, length);
  is("damaged bytes: a checksum of", crc32(bytes.subarray(F.F_FILE_BYTES * 4)), word(F.F_CHECK));
  is("a plan for kernel version", word(F.F_ABI), A.ABI_VERSION);
  return bytes;
}

/** Looks at every table: a checksum finds accidents, but that every address lies inside is not left to it. */
function readPlan(given: Uint8Array | ArrayBuffer): PlanFile {
  const bytes = wholeFile(given);
  const { length } = bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  const word = (at: number, index: number): number => view.getUint32(at + index * 4, true);
  const inside = (at: number, count: number, size: number, end: number, from = A.FIRST_ADDRESS): number =>
    at >= from && at + count * size <= end
      ? at
      : refusePlan(`a table or an address at ${at}`, `it in ${from}..${end - count * size}`);
  const memoryBytes = word(0, F.F_MEMORY_BYTES);
  const imageBytes = inside(word(0, F.F_IMAGE_BYTES), 0, 0, Math.min(length, memoryBytes));
  const rows = word(0, F.F_MAX_DETECTIONS);
  /** Where each row of a table begins. */
  const table = (at: number, count: number, words: number): number[] => {
    const first = inside(word(0, at), word(0, count), words * 4, length);
    return Array.from({ length: word(0, count) }, (_, i) => first + i * words * 4);
  };
  const text = (at: number): string => {
    let escaped = "";
    // a device need not have a TextDecoder
    for (let i = inside(at, 1, 1, length); bytes[i] !== 0; i++)
      escaped += `%${(bytes[i] | 256).toString(16).slice(1)}`;
    try {
      return decodeURIComponent(escaped);
    } catch {
      return refusePlan("a name that is no UTF-8", "UTF-8");
    }
  };
  if (bytes[length - 1] !== 0)
    refusePlan(`a last byte ${bytes[length - 1]}`, "0, which ends the last string");
  const images = table(F.F_IMAGE_TABLE, F.F_IMAGES, F.IMAGE_WORDS).map((row) => {
    const plan = inside(word(row, F.I_PLAN), A.PLAN_WORDS, 4, imageBytes);
    const most = word(plan, A.P_MAX_DETECTIONS);
    if (most > rows) refusePlan(`${most} detections`, `at most ${rows}`);
    const column = (index: number, size: number): number => inside(word(row, index), rows, size, memoryBytes);
    return {
      plan,
      boxes: column(F.I_BOXES, 16),
      scores: column(F.I_SCORES, 4),
      classIds: column(F.I_CLASS_IDS, 4),
      sources: column(F.I_SOURCES, 4),
    };
  });
  const slots = table(F.F_SLOT_TABLE, F.F_SLOTS, F.SLOT_WORDS);
  const tensors = slots.map((row): TensorSpec => {
    const type = TYPES.find((t) => ELEMENTS[t].code === word(row, F.S_TYPE));
    const rank = word(row, F.S_RANK);
    if (type === undefined || rank > F.MAX_RANK)
      return refusePlan(
        `type ${word(row, F.S_TYPE)} of ${rank} dims`,
        `a known one of at most ${F.MAX_RANK}`,
      );
    const dims = Object.freeze(Array.from({ length: rank }, (_, k) => word(row, F.S_DIM_0 + k)));
    const needed = volume(dims) * ELEMENTS[type].bytes;
    if (word(row, F.S_BYTES) !== needed)
      refusePlan(`${word(row, F.S_BYTES)} bytes for ${type} [${dims.join()}]`, String(needed));
    return {
      name: text(word(row, F.S_NAME)),
      dims,
      type,
      scale: view.getFloat32(row + F.S_SCALE * 4, true),
      zeroPoint: view.getFloat32(row + F.S_ZERO * 4, true),
      order: ORDERS[word(row, F.S_ORDER) - 1] ?? null,
    };
  });
  const addresses = slots.map((row) =>
    inside(word(row, F.S_ADDRESS), word(row, F.S_BYTES), 1, memoryBytes, imageBytes),
  );
  const names = table(F.F_LABEL_TABLE, F.F_LABELS, 1).map((row) => text(word(row, 0)));
  const [width, height] = [word(0, F.F_INPUT_WIDTH), word(0, F.F_INPUT_HEIGHT)];
  return {
    image: bytes.slice(0, imageBytes),
    memoryBytes,
    rows,
    inputSize: width && height ? Object.freeze<[number, number]>([width, height]) : null,
    labels: names.length > 0 ? Object.freeze(names) : null,
    images,
    tensors,
    addresses,
    places: slots.map((row) => word(row, F.S_PLACE)),
    outputs: slots.length > 0 ? word(slots[0], F.S_OUTPUTS) : 0,
  };
}

class FileDecoder implements PlanDecoder {
  readonly engine: EngineName;
  readonly inputSize: readonly [number, number] | null;
  readonly labels: readonly string[] | null;
  readonly stats = { frames: 0, candidates: 0, dropped: { capped: 0, notFinite: 0 }, bytes: 0 };
  readonly slots: { readonly [name: string]: Slot };
  /** Rows of the detection columns: the largest `maxDetections`. */
  readonly #rows: number;
  readonly #work: Ready;
  readonly #inputs: Inputs;
  readonly #loop: FrameLoop;

  constructor(plan: PlanFile, engine: Engine) {
    const { image, tensors, addresses, places, outputs, rows, labels, images, inputSize } = plan;
    const { buffer } = engine.memory;
    new Uint8Array(buffer).set(image);
    this.engine = engine.name;
    this.inputSize = inputSize;
    this.labels = labels;
    this.#rows = rows;
    this.#inputs = inputsOf(buffer, tensors, addresses, {
      places,
      outputs,
      ownNames: null,
      known: tensors,
    });
    this.#work = {
      engine,
      blocks: images.map((i) => i.plan),
      inputSize,
      detections: images.map((i) => detectionsIn(buffer, i, rows, labels)),
    };
    this.#loop = new FrameLoop(this.stats, (_, block) => checkRange(this.#work, block));
    this.slots = slotsByName(this.#inputs);
    this.stats.bytes = buffer.byteLength;
  }

  decode(outputs?: Outputs | TensorInput, frame?: Frame): Detections {
    return this.#decode(outputs, oneFrame(frame), oneImage);
  }

  decodeBatch(outputs?: Outputs | TensorInput, frames?: Frame | readonly Frame[]): readonly Detections[] {
    return this.#decode(outputs, frames, ({ detections }) => detections);
  }

  #decode<R>(outputs: Outputs | TensorInput | undefined, given: Frames, resultOf: (work: Ready) => R): R {
    const frames = given ?? undefined;
    this.#loop.enter();
    try {
      const result = resultOf(this.#work);
      this.#loop.check(frames, this.inputSize);
      if (outputs !== undefined) this.#bringIn(asOutputs(outputs));
      this.#loop.run(this.#work, frames);
      return result;
    } finally {
      if (outputs !== undefined) forgetTensors(this.#inputs);
      this.#loop.leave();
    }
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

  /** Copies a caller's arrays into the slots: all of them, or none. */
  #bringIn(outputs: Outputs): void {
    const inputs = this.#inputs;
    if (!matchTensors(inputs, outputs) || !fitTensors(inputs))
      inputs.tensors.forEach((spec, i) => differs(spec, inputs.given[i], outputs, inputs.outputs));
    copyTensors(inputs);
  }
}

/** Throws if the kernel met a probability outside 0..1. A plan file does not say which tensor held it. */
function checkRange(work: Ready, block: number): void {
  if (isOutOfRange(work, block))
    refuse(
      "",
      "a score outside 0..1",
      'probabilities, or, where the network gives logits, a plan compiled with activation "logits"',
    );
}

/** Says how a tensor is not that of the plan, if it is not. */
function differs(spec: TensorSpec, t: TensorInput | null, outputs: Outputs, count: number): void {
  const where = `tensor "${spec.name}"`;
  const isNull = t === null && !Array.isArray(outputs) && spec.name in outputs;
  if (t === null && !isNull) {
    if (Array.isArray(outputs) && outputs.every((o: TensorInput | null) => (o?.name ?? null) === null))
      refuse(
        where,
        `a list of ${outputs.length} without names`,
        `${count} as the network gives them, or names`,
      );
    const names = Array.isArray(outputs)
      ? (outputs as readonly (TensorInput | null)[]).map((o) => o?.name ?? "(no name)")
      : Object.keys(outputs);
    throw new TensorError(`${where} is missing: got outputs ${few(names, 9) || "none"}.`);
  }
  const got = specOf(spec.name, t as TensorInput, { type: spec.type });
  const same = (what: string, a: unknown, b: unknown): unknown =>
    a === b || refuse(where, `${what} ${String(a)}`, `${String(b)} as in the plan`);
  same("dims", `[${got.dims.join()}]`, `[${spec.dims.join()}]`);
  same("type", got.type, spec.type);
  same("order", (got.order ?? spec.order ?? "none").toLowerCase(), spec.order ?? "none");
  // what the tensor leaves unsaid is as the plan says it
  const { scale, zeroPoint } = specOf(spec.name, t as TensorInput, spec);
  same("scale", Math.fround(scale as number), spec.scale);
  same("zeroPoint", Math.fround(zeroPoint), spec.zeroPoint);
}
