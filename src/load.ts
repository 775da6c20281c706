/**
 * `boxwright/plan`: decodes by a plan file, in which `boxwright compile` has settled config and shapes beforehand. Of the rooms before
 * memory nothing is needed then. `planfile.ts` documents the file; `embedded/boxwright.c` is the same in C.
 */
// first for its place in the bundle, see index.ts
import "./source.ts";
import {
  type Engine,
  type EngineName,
  checkEngine,
  chooseEngine,
  makeEngine,
  prepareEngine,
} from "./engine.ts";
import * as A from "./abi.ts";
import { crc32 } from "./crc32.ts";
import { type Detections, detectionsIn } from "./detections.ts";
import { ConfigError, mismatch, refuse } from "./errors.ts";
import { writeAffine } from "./image.ts";
import { type Frame, affineOf } from "./letterbox.ts";
import * as F from "./planfile.ts";
import { type Outputs, type Slot, type Slots, asOutputs, copyInto, isAs, slotsByName } from "./slots.ts";
import { type Stats, countFrame, countImage } from "./stats.ts";
import {
  ELEMENTS,
  type ElementType,
  type TensorInput,
  type TensorSpec,
  few,
  show,
  specOf,
  volume,
} from "./tensor.ts";

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
  readonly stats: Omit<Stats, "plans">;
  /** Tensor slots by name. */
  readonly slots: { readonly [name: string]: Slot };
  /**
   * Decodes one frame, as `Decoder.decode`: without outputs what stands in the slots; a batch gives one `Detections` per image.
   * @throws TensorError where the outputs are not those of the plan, with got and expected.
   */
  decode<R extends Detections | readonly Detections[] = Detections>(
    outputs?: Outputs | TensorInput,
    frame?: Frame,
  ): R;
  /**
   * Changes thresholds between frames. The confidence threshold is part of the plan; of a stricter one the detections, best first, are
   * the beginning.
   */
  update(thresholds: { readonly iouThreshold?: number; readonly maxDetections?: number }): void;
}

/**
 * Makes a decoder from the bytes of a plan file. Compiles the kernel off the main thread where the runtime can.
 * @throws ConfigError where the bytes are no plan, or damaged, with got and expected.
 */
export async function loadPlan(
  bytes: Uint8Array | ArrayBuffer,
  options: LoadOptions = {},
): Promise<PlanDecoder> {
  await prepareEngine(engineOf(options));
  return loadPlanSync(bytes, options);
}

/** `loadPlan` without a promise. */
export function loadPlanSync(bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): PlanDecoder {
  const wanted = engineOf(options);
  checkEngine(wanted);
  const plan = readPlan(bytes);
  return new FileDecoder(plan, makeEngine(chooseEngine(wanted), plan.memoryBytes));
}

/** In plain JavaScript there may be no options. */
const engineOf = (options: LoadOptions | null): EngineName | "auto" => options?.engine ?? "auto";

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
  readonly images: readonly {
    readonly plan: number;
    readonly boxes: number;
    readonly scores: number;
    readonly labels: number;
    readonly sources: number;
  }[];
  readonly tensors: readonly TensorSpec[];
  /** Addresses of the slots. */
  readonly addresses: readonly number[];
}

const TYPES = /* @__PURE__ */ Object.keys(ELEMENTS) as ElementType[];

/** Checks length, checksum, versions and every table. */
function readPlan(given: Uint8Array | ArrayBuffer): PlanFile {
  const no = (got: string, expected: string): never => {
    throw new ConfigError([{ path: "plan", message: mismatch(got, expected) }]);
  };
  const isBuffer = Object.prototype.toString.call(given) === "[object ArrayBuffer]";
  if (!isBuffer && !(ArrayBuffer.isView(given) && given.BYTES_PER_ELEMENT === 1))
    no(show(given), "the bytes of a plan file, a Uint8Array or an ArrayBuffer");
  const { buffer, byteOffset, byteLength } = given as Uint8Array;
  const whole = isBuffer
    ? new Uint8Array(given as ArrayBuffer)
    : new Uint8Array(buffer, byteOffset, byteLength);
  const view = new DataView(whole.buffer, whole.byteOffset, whole.length);
  const word = (at: number, index: number): number => view.getUint32(at + index * 4, true);
  const head = F.FILE_WORDS * 4;
  const is = (what: string, got: number, expected: number): unknown =>
    got === expected || no(`${what} ${got}`, String(expected));
  if (whole.length < head) no(`${whole.length} bytes`, `at least ${head}`);
  if (word(0, F.F_MAGIC) !== F.PLAN_MAGIC)
    no(`a file that begins with ${show(whole.subarray(0, 4))}`, "one made by boxwright compile, without --c");
  is("a file of version", word(0, F.F_VERSION), F.PLAN_VERSION);
  const length = word(0, F.F_FILE_BYTES);
  // behind it there may be other things, as in flash
  if (whole.length < length || length < head) no(`${whole.length} bytes`, String(length));
  const bytes = whole.subarray(0, length);
  is("damaged bytes: a checksum of", crc32(bytes.subarray(F.F_FILE_BYTES * 4)), word(0, F.F_CHECK));
  is("a plan for kernel version", word(0, F.F_ABI), A.ABI_VERSION);

  // a checksum finds accidents; that every table and every address lies inside is looked at all the same
  const inside = (at: number, count: number, size: number, end: number, from = 64): number =>
    at >= from && at + count * size <= end
      ? at
      : no(`a table or an address at ${at}`, `it in ${from}..${end - count * size}`);
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
      return no("a name that is no UTF-8", "UTF-8");
    }
  };
  if (bytes[length - 1] !== 0) no(`a last byte ${bytes[length - 1]}`, "0, which ends the last string");
  const images = table(F.F_IMAGE_TABLE, F.F_IMAGES, F.IMAGE_WORDS).map((row) => {
    const plan = inside(word(row, F.I_PLAN), A.PLAN_WORDS, 4, imageBytes);
    const most = word(plan, A.P_MAX_DETECTIONS);
    if (most > rows) no(`${most} detections`, `at most ${rows}`);
    const column = (index: number, size: number): number => inside(word(row, index), rows, size, memoryBytes);
    return {
      plan,
      boxes: column(F.I_BOXES, 16),
      scores: column(F.I_SCORES, 4),
      labels: column(F.I_LABELS, 4),
      sources: column(F.I_SOURCES, 4),
    };
  });
  const slots = table(F.F_SLOT_TABLE, F.F_SLOTS, F.SLOT_WORDS);
  const tensors = slots.map((row): TensorSpec => {
    const type = TYPES.find((t) => ELEMENTS[t].code === word(row, F.S_TYPE));
    const rank = word(row, F.S_RANK);
    if (type === undefined || rank > F.MAX_RANK)
      return no(`type ${word(row, F.S_TYPE)} of ${rank} dims`, `a known one of at most ${F.MAX_RANK}`);
    const dims = Array.from({ length: rank }, (_, k) => word(row, F.S_DIM_0 + k));
    const needed = volume(dims) * ELEMENTS[type].bytes;
    if (word(row, F.S_BYTES) !== needed)
      no(`${word(row, F.S_BYTES)} bytes for ${type} [${dims.join()}]`, String(needed));
    return {
      name: text(word(row, F.S_NAME)),
      dims,
      type,
      scale: view.getFloat32(row + F.S_SCALE * 4, true),
      zeroPoint: view.getFloat32(row + F.S_ZERO * 4, true),
      order: null,
    };
  });
  const addresses = slots.map((row) =>
    inside(word(row, F.S_ADDRESS), word(row, F.S_BYTES), 1, memoryBytes, imageBytes),
  );
  const names = table(F.F_LABEL_TABLE, F.F_LABELS, 1).map((row) => text(word(row, 0)));
  const [width, height] = [word(0, F.F_INPUT_WIDTH), word(0, F.F_INPUT_HEIGHT)];
  return {
    image: bytes.subarray(0, imageBytes),
    memoryBytes,
    rows,
    inputSize: width && height ? [width, height] : null,
    labels: names.length > 0 ? names : null,
    images,
    tensors,
    addresses,
  };
}

class FileDecoder implements PlanDecoder {
  readonly engine: EngineName;
  readonly inputSize: readonly [number, number] | null;
  readonly labels: readonly string[] | null;
  readonly stats = { frames: 0, candidates: 0, dropped: { capped: 0, notFinite: 0 }, bytes: 0 };
  readonly slots: { readonly [name: string]: Slot };
  readonly #engine: Engine;
  readonly #places: Slots;
  readonly #blocks: readonly number[];
  readonly #rows: number;
  readonly #detections: readonly Detections[];
  /** The frame that memory holds; `null`: one that may have been changed in place since. */
  #frame: Frame | undefined | null;

  constructor(plan: PlanFile, engine: Engine) {
    const { tensors, addresses, rows, labels, images } = plan;
    const { buffer, u8 } = engine.memory;
    u8.set(plan.image);
    this.engine = engine.name;
    this.inputSize = plan.inputSize;
    this.labels = labels;
    this.#engine = engine;
    this.#rows = rows;
    this.#places = {
      tensors,
      slots: tensors.map(({ type, dims }, i) => new ELEMENTS[type].array(buffer, addresses[i], volume(dims))),
      known: tensors,
      types: [],
    };
    this.#blocks = images.map((i) => i.plan);
    this.#detections = images.map((i) => detectionsIn(buffer, i, rows, labels));
    this.slots = slotsByName(this.#places);
    this.stats.bytes = buffer.byteLength;
  }

  decode<R extends Detections | readonly Detections[] = Detections>(
    outputs?: Outputs | TensorInput,
    given?: Frame,
  ): R {
    if (outputs !== undefined) this.#fill(asOutputs(outputs));
    const frame = given ?? undefined;
    const { memory } = this.#engine;
    if (frame !== this.#frame) {
      writeAffine({ memory, layout: { blocks: this.#blocks } }, affineOf(frame, this.inputSize));
      this.#frame = frame === undefined || Object.isFrozen(frame) ? frame : null;
    }
    countFrame(this.stats);
    for (let i = 0; i < this.#blocks.length; i++) {
      const at = this.#blocks[i];
      this.#detections[i].length = this.#engine.decode(at);
      countImage(this.stats, memory, at);
      const outside = memory.i32[(at >> 2) + A.P_OUT_OF_RANGE];
      if (outside > 0)
        refuse(
          "",
          `${outside} scores outside 0..1`,
          'probabilities, or a plan compiled with activation "logits"',
        );
    }
    return (this.#detections.length === 1 ? this.#detections[0] : this.#detections) as R;
  }

  update(thresholds: { readonly iouThreshold?: number; readonly maxDetections?: number }): void {
    const { f32, i32 } = this.#engine.memory;
    for (const [name, value] of Object.entries(thresholds) as [string, unknown][]) {
      const not = (expected: string): never => refuse(name, show(value), expected, RangeError);
      const wanted = value as number;
      if (name === "iouThreshold") {
        if (!(wanted >= 0 && wanted <= 1)) not("0..1");
        for (const at of this.#blocks) f32[(at >> 2) + A.P_IOU] = wanted;
      } else if (name === "maxDetections") {
        if (!(Number.isInteger(wanted) && wanted > 0 && wanted <= this.#rows))
          not(`1..${this.#rows}, the bound of the plan`);
        for (const at of this.#blocks) i32[(at >> 2) + A.P_MAX_DETECTIONS] = wanted;
      } else
        refuse(
          name,
          "a threshold that is part of the plan, or none",
          "iouThreshold or maxDetections",
          RangeError,
        );
    }
  }

  /** Brings a caller's arrays into the slots: all of them, or none. */
  #fill(outputs: Outputs): void {
    const { tensors, slots } = this.#places;
    for (let i = 0; i < tensors.length; i++) {
      const t = this.#tensorAt(outputs, i);
      if (t === undefined || t === null || !isAs(this.#places, i, t)) differs(tensors[i], t, outputs);
    }
    for (let i = 0; i < tensors.length; i++)
      copyInto(slots[i], (this.#tensorAt(outputs, i) as TensorInput).data);
  }

  /** Of a list, the one that has the name of tensor `i`; where none has a name, they stand in the plan's order. */
  #tensorAt(outputs: Outputs, i: number): TensorInput | null | undefined {
    const { tensors } = this.#places;
    const { name } = tensors[i];
    if (!Array.isArray(outputs)) return (outputs as { readonly [name: string]: TensorInput })[name];
    const list = outputs as readonly (TensorInput | null)[];
    for (let k = 0; k < list.length; k++) if (list[k]?.name === name) return list[k];
    return list.length === tensors.length && list[i]?.name === undefined ? list[i] : undefined;
  }
}

/** Says how a tensor is not that of the plan. */
function differs(spec: TensorSpec, t: TensorInput | null | undefined, outputs: Outputs): void {
  const where = `tensor "${spec.name}"`;
  if (t === undefined) {
    const names = Array.isArray(outputs)
      ? (outputs as readonly (TensorInput | null)[]).map((o) => o?.name ?? "(no name)")
      : Object.keys(outputs);
    refuse(where, `outputs ${few(names, 9) || "none"}`, "it among them");
  }
  const got = specOf(spec.name, t as TensorInput, { type: spec.type });
  const same = (what: string, a: unknown, b: unknown): unknown =>
    a === b || refuse(where, `${what} ${String(a)}`, `${String(b)} as in the plan`);
  same("dims", `[${got.dims.join()}]`, `[${spec.dims.join()}]`);
  same("type", got.type, spec.type);
  // what the tensor leaves unsaid is as the plan says it
  const { scale, zeroPoint } = specOf(spec.name, t as TensorInput, spec);
  same("scale", Math.fround(scale as number), spec.scale);
  same("zeroPoint", zeroPoint, spec.zeroPoint);
}
