/** createDecoder(): the one file that walks all rooms, config -> plan -> image -> engine -> detections. */
import type { EngineName } from "../core/engine-name.ts";
import { checkEngine, chooseEngine, makeEngine, prepareEngine } from "../engine/choose.ts";
import type { Engine } from "../engine/engine.ts";
import * as A from "../core/abi.ts";
import { CONFIDENCE, FieldReader, UNIT, isText } from "../config/fields.ts";
import { parseConfig } from "../config/config.ts";
import type { Config, DecoderOptions, TypedOptions } from "../config/types.ts";
import { mayBePerClass } from "../config/per-class.ts";
import { makePlan } from "../plan/make.ts";
import { type Frame, affineOf, remembered } from "./frame.ts";
import { ownList } from "../config/options.ts";
import { numbersOf } from "../core/number.ts";
import { type Description, describeConfig, describePlan } from "../plan/describe.ts";
import {
  type Known,
  type Outputs,
  type Slot,
  type Slots,
  copyInto,
  isAs,
  isSlot,
  asOutputs,
  checkElements,
  slotsByName,
} from "./inputs.ts";
import { withOptions } from "../config/typed-options.ts";
import { layoutOf } from "../memory/layout.ts";
import {
  checkBoxes,
  checkDistributions,
  checkLabels,
  checkProbabilities,
  looksActivated,
  meetsNaN,
  outOfRange,
} from "./sanity.ts";
import { ConfigError, refuse } from "../core/errors.ts";
import { gatherRows, holdsRows } from "../memory/gather.ts";
import { type Detection, type Detections, detectionsIn, setLength } from "./detections.ts";
import {
  type MemoryImage,
  type Thresholds,
  slotsOf,
  writeAffine,
  writeImage,
  writeThresholds,
} from "../memory/write.ts";
import { checkPerClass, isPerClass, labelsOf } from "../plan/classes.ts";

import { knownSpecs } from "../heads/query.ts";
import { priorsToCome } from "../heads/ssd.ts";
import { type TensorInput, type TensorSpec, specOf } from "../core/tensor.ts";
import { type Stats, countFrame, countImage } from "./stats.ts";

/** Thresholds for `Decoder.update`. */
export interface Update {
  /** 0..1, or one per class. */
  readonly confidenceThreshold?: number | readonly number[];
  /** 0..1. */
  readonly iouThreshold?: number;
  /** Up to the bound given at creation. */
  readonly maxDetections?: number;
}

/** Turns output tensors of one network into detections. Made by `createDecoder`. */
export interface Decoder {
  /** Which engine runs. */
  readonly engine: EngineName;
  /** The config as it was read, with what the options say over it. */
  readonly config: Config;
  /** Counters, kept up to date in place. */
  readonly stats: Stats;
  /** Tensor slots by name; empty until the shapes are known. */
  readonly slots: { readonly [name: string]: Slot };
  /**
   * Decodes one frame. The result is overwritten by the next call (`copy()` keeps it); its rows stand in order of confidence, its
   * coordinates are 0..1 across the image of `frame`, or across the network's input without one.
   * @param outputs a record or an array of `{data, dims}`, or one such tensor; none: what stands in the slots
   * @param frame size of the original image, and how it was resized to the input; one for all images of a batch
   * @returns one `Detections`; for a batch of more than one image an array of them: then write `decode<Detections[]>(outputs)`
   * @throws TensorError where the outputs do not fit the config or hold numbers that the config rules out, with got and expected;
   * RangeError where the frame is none
   */
  decode<R extends Detections | readonly Detections[] = Detections>(
    outputs?: Outputs | TensorInput,
    frame?: Frame,
  ): R;
  /**
   * Changes thresholds between frames, without a rebuild.
   * @throws RangeError for a name or value that is none; then nothing has changed
   */
  update(thresholds: Update): void;
  /** The plan in words and as JSON: what each tensor is taken for, and why. */
  describe(): Description;
}

/** Whatever a file may hold. What names its `family` on the spot is no file but typed options, for the compiler to check. */
export type FileConfig<C> = C extends { readonly family: infer F } ? (string extends F ? C : never) : C;

/**
 * Makes a decoder from a config. Compiles the kernel off the main thread where the runtime can.
 * @param config parsed JSON or its text (NN_config, nn_config, NN Archive config.json), or typed options
 * @param options what goes over the config, and what no config says
 * @throws ConfigError with every problem of the config at once; TensorError where shapes that are known beforehand do not fit it;
 * RangeError for an engine of another name, Error for one that cannot run here
 */
export function createDecoder(config: TypedOptions, options?: DecoderOptions): Promise<Decoder>;
export function createDecoder<const C>(config: FileConfig<C>, options?: DecoderOptions): Promise<Decoder>;
export async function createDecoder(config: unknown, options: DecoderOptions = {}): Promise<Decoder> {
  await prepareEngine(engineOf(options));
  return createDecoderSync(config, options);
}

/** `createDecoder` without a promise: the kernel is compiled on this thread, some milliseconds once. */
export function createDecoderSync(config: TypedOptions, options?: DecoderOptions): Decoder;
export function createDecoderSync<const C>(config: FileConfig<C>, options?: DecoderOptions): Decoder;
export function createDecoderSync(config: unknown, options: DecoderOptions = {}): Decoder {
  const wanted = engineOf(options);
  checkEngine(wanted);
  return new TensorDecoder(withOptions(parseConfig(config), options), chooseEngine(wanted));
}

/** Plain JavaScript may pass null for options; they are checked where all of them are read, in `withOptions`. */
const engineOf = (options: DecoderOptions | null): EngineName | "auto" => options?.engine ?? "auto";

/** Everything that belongs to one set of shapes. */
interface Workspace extends MemoryImage, Slots {
  readonly engine: Engine;
  /** Where each tensor stands in a bare array: among those that the plan was made from, of which it may leave some alone. */
  readonly places: readonly number[];
  /** What those are called that have a name there which is not that of the plan. */
  readonly own: readonly (string | null)[];
  readonly labels: readonly string[] | null;
  readonly detections: readonly Detections[];
}

class TensorDecoder implements Decoder {
  readonly config: Config;
  readonly engine: EngineName;
  readonly stats = { frames: 0, candidates: 0, dropped: { capped: 0, notFinite: 0 }, bytes: 0, plans: 0 };
  slots: { readonly [name: string]: Slot } = {};
  #work: Workspace | null = null;
  /** The caller's arrays of one frame; kept, so that a frame makes no garbage. */
  readonly #data: unknown[] = [];
  /** Shapes were given beforehand: others throw. */
  #fixed = false;
  #thresholds: Thresholds;
  /** The whole of the scores was looked at; boxes of the first candidates too. */
  #checkedScores = false;
  #checkedBoxes = false;
  /** A note tells of scores that are NaN. */
  #metNaN = false;
  /** The frame that memory holds, as `remembered`. */
  #frame: Frame | undefined | null;
  readonly #notes: string[] = [];

  constructor(config: Config, engine: EngineName) {
    this.config = config;
    this.engine = engine;
    this.#thresholds = config;
    const specs = knownSpecs(config);
    if (specs && !priorsToCome(config, specs)) {
      this.#build(specs, () => null);
      this.#fixed = true;
    }
  }

  decode<R extends Detections | readonly Detections[] = Detections>(
    outputs?: Outputs | TensorInput,
    given?: Frame,
  ): R {
    // in plain JavaScript, null says as little as undefined
    const frame = given ?? undefined;
    const before = this.#work;
    // first, so that a frame that is refused leaves everything as it was; before there is a plan, of any input size
    const affine =
      frame === this.#frame
        ? null
        : affineOf(frame, before ? before.plan.inputSize : (this.config.inputSize ?? [1, 1]));
    // of gathered input; 0: those of the images
    let block = 0;
    if (outputs === undefined) {
      if (!this.#work)
        refuse("", "no outputs", "them at the first decode: slots exist once the shapes are known");
      if (holdsRows(this.#work)) refuseRows("no outputs");
    } else block = this.#fill(outputs);
    const work = this.#work as Workspace;
    const { engine, layout, memory } = work;
    if (frame !== this.#frame) {
      writeAffine(
        memory,
        layout.blocks,
        affine && work === before ? affine : affineOf(frame, work.plan.inputSize),
      );
      this.#frame = remembered(frame);
    }
    if (!this.#checkedScores && block === 0) this.#checkScores(work);

    const { stats } = this;
    countFrame(stats);
    for (let image = 0; image < work.detections.length; image++) {
      const at = block === 0 ? layout.imageBlocks[image] : block;
      setLength(work.detections[image], engine.decode(at));
      const candidates = countImage(stats, memory, at);
      if (memory.i32[(at >> 2) + A.P_OUT_OF_RANGE] > 0) throw outOfRange(work.plan, work.plan.about, null);
      if (!this.#checkedBoxes && candidates > 0) {
        const { classIds, length } = work.detections[image];
        // numbers that other networks' label columns hold may count the background
        const classes = work.plan.reading === "end-to-end" ? this.config.classes : null;
        const ids = classIds.subarray(0, length);
        for (const note of [checkBoxes(work, at), checkLabels(ids, work.labels, classes)])
          if (note !== null) this.#notes.push(note);
        this.#checkedBoxes = true;
      }
      if (candidates === 0 && !this.#metNaN) {
        const lost = memory.i32[(at >> 2) + A.P_NOT_FINITE];
        const what =
          lost > 0
            ? `boxes of frame ${stats.frames} are NaN or infinite, and dropped: ${lost}`
            : block === 0 && meetsNaN(work, image, stats.frames - 1)
              ? `scores of frame ${stats.frames} are NaN, which pass no threshold`
              : null;
        if (what !== null) this.#notes.push(what);
        this.#metNaN = what !== null;
      }
    }
    return (work.detections.length === 1 ? work.detections[0] : work.detections) as R;
  }

  update(u: Update): void {
    const r = new FieldReader({ "": u }).object("");
    r.only(["confidenceThreshold", "iouThreshold", "maxDetections"]);
    const plan = this.#work?.plan;
    const bound = this.config.maxDetections;
    const confidence = r.take("confidenceThreshold", CONFIDENCE);
    if (
      typeof confidence === "object" &&
      confidence !== null &&
      !(plan ? isPerClass(plan, confidence) : mayBePerClass(this.config, confidence))
    )
      r.say(
        "confidenceThreshold",
        `${confidence.length} values`,
        `${plan?.classes ?? this.config.classes}, one per class`,
      );
    const iou = r.take<number>("iouThreshold", ["0..1", UNIT[1]]);
    const most = r.take<number>("maxDetections", [
      `1..${bound}, the bound given at creation`,
      (x) => Number.isInteger(x) && (x as number) > 0 && (x as number) <= bound,
    ]);
    if (r.problems.length > 0) throw new RangeError(new ConfigError(r.problems).message);
    const t = this.#thresholds;
    this.#thresholds = {
      confidenceThreshold: ownList(confidence ?? t.confidenceThreshold),
      iouThreshold: iou ?? t.iouThreshold,
      maxDetections: most ?? t.maxDetections,
    };
    if (this.#work) writeThresholds(this.#work, this.#thresholds);
  }

  describe(): Description {
    const config = { ...this.config, ...this.#thresholds };
    const plan = this.#work?.plan;
    return plan
      ? describePlan(config, { ...plan, notes: [...plan.notes, ...this.#notes] })
      : describeConfig(config);
  }

  /** Brings a caller's arrays into memory. Returns the plan block to run, 0 for the slots' own. */
  #fill(outputs: Outputs | TensorInput): number {
    const given = asOutputs(outputs);
    if (!this.#work || !this.#fits(this.#work, given)) this.#replan(given);
    const work = this.#work as Workspace;
    if (holdsRows(work))
      for (let i = 0; i < work.slots.length; i++)
        if (isSlot(work.slots[i], tensorAt(work, given, i).data)) refuseRows("a slot's own array");
    if (work.plan.gather !== null && this.#checkedScores) {
      for (let i = 0; i < work.slots.length; i++) this.#data[i] = tensorAt(work, given, i).data;
      const at = gatherRows(work, this.#data, work.slots);
      // the caller's arrays are not held on to
      this.#data.fill(null);
      if (at !== 0) return at;
    }
    for (let i = 0; i < work.slots.length; i++) checkElements(work, i, tensorAt(work, given, i).data);
    for (let i = 0; i < work.slots.length; i++) copyInto(work.slots[i], tensorAt(work, given, i).data);
    return 0;
  }

  /** Whether the tensors are those of the plan; allocates nothing. */
  #fits(work: Workspace, outputs: Outputs): boolean {
    const { tensors } = work;
    for (let i = 0; i < tensors.length; i++) {
      const t = tensorAt(work, outputs, i) as TensorInput | undefined;
      if (t === undefined || t === null) return false;
      // in an array, a tensor that has a name of its own goes by it
      const name = t.name ?? tensors[i].name;
      if (name !== tensors[i].name && name !== work.own[i] && Array.isArray(outputs)) return false;
      if (!isOrder(t.order ?? null, tensors[i].order) || !isAs(work, i, t)) return false;
    }
    return true;
  }

  #known(name: string): Known {
    return this.config.outputs?.find((o) => o.name === name) ?? {};
  }

  /** What the tensors of a bare array are called: by themselves, or as the config names them, in its order. */
  #namesOf(tensors: readonly TensorInput[]): string[] {
    const known = this.config.outputs ?? [];
    const own = tensors.map((t) => (t as TensorInput | null)?.name);
    if (own.every(isText) && (!this.#fixed || known.every((o) => own.includes(o.name)))) return own;
    const inOrder =
      known.length === tensors.length &&
      known.every(
        ({ dims }, i) => dims === null || dims.join() === String((tensors[i] as TensorInput | null)?.dims),
      );
    return tensors.map((_, i) => (this.#fixed || inOrder ? known[i]?.name : undefined) ?? `output${i}`);
  }

  #replan(outputs: Outputs): void {
    const listed = Array.isArray(outputs);
    const tensors = (listed ? Array.from(outputs) : Object.values(outputs)) as readonly TensorInput[];
    const names = listed ? this.#namesOf(tensors) : Object.keys(outputs);
    // a scale given beforehand holds for data that comes without one
    const specs = tensors.map((t, i) => specOf(names[i], t, this.#known(names[i])));
    if (this.#fixed && this.#work) {
      for (const s of this.#work.plan.tensors) {
        const got = specs.find((x) => x.name === s.name);
        const where = `tensor "${s.name}"`;
        if (!got) return refuse(where, `outputs ${names.join(", ") || "none"}`, "it among them");
        if (got.dims.join() !== s.dims.join())
          refuse(where, `dims [${got.dims.join(",")}]`, `[${s.dims.join(",")}] as given beforehand`);
      }
    }
    this.#build(
      specs,
      (i) => numbersOf(specs[i], tensors[i].data),
      listed ? tensors.map((t) => t.name ?? null) : [],
    );
  }

  /** `own`: names of the tensors in the list that they came in. */
  #build(
    specs: readonly TensorSpec[],
    valuesOf: (index: number) => ArrayLike<number> | null,
    own: readonly (string | null)[] = [],
  ): void {
    // thresholds of today: where only a list of them tells how many classes there are, `update` may have given it
    const { confidenceThreshold } = this.#thresholds;
    const plan = makePlan({ ...this.config, confidenceThreshold }, specs, valuesOf);
    checkPerClass(plan, confidenceThreshold);
    const layout = layoutOf(plan);
    const engine = makeEngine(this.engine, layout.bytes);
    const { memory } = engine;
    const image = { memory, plan, layout };
    writeImage(image, this.#thresholds);
    const { tensors } = plan;
    const slots = slotsOf(image);
    const labels = labelsOf(plan, this.config.labels);
    const { buffer } = memory;
    const detections = layout.detections.map((d) => detectionsIn(buffer, d, plan.maxDetections, labels));
    const places = tensors.map(({ name }) => specs.findIndex((s) => s.name === name));
    const known = tensors.map(({ name }) => this.#known(name));
    this.#work = {
      ...image,
      engine,
      tensors,
      slots,
      places,
      own: places.map((i) => own[i] ?? null),
      known,
      types: [],
      labels,
      detections,
    };
    this.slots = slotsByName(this.#work);
    this.#checkedScores = false;
    this.#checkedBoxes = false;
    this.#frame = undefined;
    this.#notes.length = 0;
    this.stats.bytes = buffer.byteLength;
    this.stats.plans++;
  }

  #checkScores(work: Workspace): void {
    checkDistributions(work);
    const lost = checkProbabilities(work);
    this.#metNaN = lost > 0;
    if (lost > 0) this.#notes.push(`${lost} scores of the first frame are NaN, which pass no threshold`);
    if (looksActivated(work))
      this.#notes.push(
        'every score already lies in 0..1: if the network applies the sigmoid itself, say activation: "sigmoid"',
      );
    this.#checkedScores = true;
  }
}

function tensorAt({ plan, places }: Workspace, outputs: Outputs, i: number): TensorInput {
  return Array.isArray(outputs)
    ? (outputs as readonly TensorInput[])[places[i]]
    : (outputs as { readonly [name: string]: TensorInput })[plan.tensors[i].name];
}

/** Whether an order that comes with a frame says nothing else than the plan's. */
const isOrder = (said: string | null, order: string | null): boolean =>
  said === null || said === order || said.toLowerCase() === order?.toLowerCase();

const refuseRows = (got: string): never =>
  refuse(
    "",
    `${got}, but the slots hold only the gathered rows of the last ones`,
    "the outputs again, or a tensor written into each slot",
  );

export type { Detection, Outputs, Slot, Stats };
