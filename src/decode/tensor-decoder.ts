/** The decoder of `createDecoder`. Makes a plan from the first frame, or from shapes stated in advance. */
import type { EngineName } from "../core/engine-name.ts";
import { ConfigError, mismatch, refuse, TensorError } from "../core/errors.ts";
import { numbersOf } from "../core/number.ts";
import type { PartialRule, PrepareRule } from "../core/prepare-rule.ts";
import { refuseWithout } from "../core/parts.ts";
import { neededTask } from "../core/tasks.ts";
import { type KnownSpec, type TensorInput, type TensorSpec, specOf } from "../core/tensor.ts";
import { isText } from "../config/fields.ts";
import { hashOf } from "../config/hash.ts";
import { mayBePerClass } from "../config/per-class.ts";
import { fetchConfig, readBy } from "../config/read.ts";
import type { Config, DecoderOptions } from "../config/types.ts";
import { TRAITS } from "../core/families.ts";
import { familyOf, knownSpecs } from "../heads/query.ts";
import { type Interpreted, interpretConfig } from "../plan/make.ts";
import type { Description } from "../plan/describe.ts";
import { isPerClass, labelsOf } from "../plan/classes.ts";
import { canGather, gatherRows } from "../memory/gather.ts";
import { type MemoryImage, type Thresholds, writeImage, writeThresholds } from "../memory/write.ts";
import { checkEngine, chooseEngine, makeEngine, prepareEngine, provideTs } from "../engine/choose.ts";
import { assemble } from "../memory/assemble.ts";
import { FrameDecoder, type Workspace, bindMethods } from "./base.ts";
import type { Decoder, Receivable } from "./decoder.ts";
import { type DetectionFields, type Detections, detectionsIn } from "./detections.ts";
import { detectionsOf } from "./records.ts";
import type { Fetched } from "./fetched.ts";
import type { FinishedRows } from "./finished.ts";
import { fetchFinishedRows, finishedRowsOf } from "./finished-rows.ts";
import type { Frame } from "./frame.ts";
import {
  type Outputs,
  copyTensors,
  fitTensors,
  inputsOf,
  isSlot,
  matchTensors,
  slotsByName,
} from "./inputs.ts";
import type { Frames } from "./loop.ts";
import { MissingOne } from "./missing-one.ts";
import { OpenRows } from "./open-rows.ts";
import { type Earlier, earlierOf, settleByFrame } from "./settle.ts";
import type { ImageInput, PrepareOptions, PrepareTask, Prepared } from "./prepare.ts";
import type { Parts } from "./parts.ts";
import { checkListRange, checkRange, isList, rangeErrorOf } from "./range.ts";
import { type AfterImageOfTask, attachTasks, checkTasks, rowReaders } from "./tasks.ts";
import { type Update, readUpdate } from "./update.ts";

/** Makes a decoder, as `createDecoder` does. `partsFor` loads the parts that the config needs. */
export async function makeDecoder(
  config: unknown,
  options: DecoderOptions,
  partsFor: (config: Config) => Parts | Promise<Parts>,
): Promise<Decoder> {
  checkEngine(engineOf(options));
  const read = await fetchConfig(config, options);
  const [parts, rows] = await Promise.all([
    partsFor(read),
    fetchFinishedRows(read),
    prepareEngine(engineOf(options)),
  ]);
  return decoderOf(read, options, parts, rows);
}

/**
 * Makes a decoder synchronously.
 * @param fetched returns the modules that `makeDecoder` loads on demand. Called only when one is needed, so that Node
 * loads no other file
 */
export function makeDecoderSync(
  config: unknown,
  options: DecoderOptions,
  parts: Parts,
  fetched: () => Fetched,
): Decoder {
  checkEngine(engineOf(options));
  provideTs((memory) => fetched().tsEngine(memory));
  const read = readBy(config, options, () => fetched().fileFormats) as Config;
  return decoderOf(
    read,
    options,
    parts,
    finishedRowsOf(read, () => fetched().FinishedRows),
  );
}

/** Makes a decoder from a config that is already read. */
export function decoderOf(
  config: Config,
  options: DecoderOptions,
  parts: Parts,
  rows: FinishedRows | null,
): Decoder {
  checkTasks(config, parts.tasks);
  return new TensorDecoder(config, chooseEngine(engineOf(options)), options ?? {}, parts, rows);
}

/** Returns the stated engine. Plain JavaScript may pass null as options; `readConfig` checks this later. */
const engineOf = (options: DecoderOptions | null): EngineName | "auto" => options?.engine ?? "auto";

/** Everything that belongs to one set of shapes. */
interface PlanWorkspace extends MemoryImage, Workspace {
  /** Plan block for rows gathered from a caller's array, as a list with one entry. */
  readonly gatherBlocks: readonly number[];
  /** Steps after the boxes of an image, such as named suppression and masks. Usually empty. */
  readonly finish: readonly AfterImageOfTask[];
}

const newStats = () => ({
  frames: 0,
  candidates: 0,
  dropped: { capped: 0, notFinite: 0, empty: 0 },
  bytes: 0,
  plans: 0,
});

class TensorDecoder extends FrameDecoder<PlanWorkspace, ReturnType<typeof newStats>> implements Decoder {
  readonly config: Config;
  readonly engine: EngineName;
  #hash: string | null = null;
  #thresholds: Thresholds;
  #work: PlanWorkspace | null = null;
  /** True if the caller stated the shapes in advance. Tensors of other shapes are refused. */
  #isFixed = false;
  /** True if the slots hold rows gathered from the last outputs, not whole tensors. */
  #holdsRows = false;
  #prepareRule: PartialRule | null = null;
  readonly #finished: FinishedRows | null;
  /** The last shapes passed to `imagesIn`, and the image count that it returned. */
  #counted = { shapes: "", images: 1 };
  /** Adds 1 to scores that are too small by 1. Null if the family never has such scores. */
  readonly #missingOne: MissingOne | null;
  readonly #openRows = new OpenRows();
  #earlier: Earlier | null = null;
  /** True if the last outputs were converted to other rows: the slots then do not hold the caller's tensors. */
  #isBrought = false;
  /**
   * True after the probabilities of the first whole tensors were checked. `#hasCheckedList`: true after the
   * probabilities of the first list that has rows were checked.
   */
  #hasCheckedRange = false;
  #hasCheckedList = false;
  readonly #parts: Parts;

  constructor(
    config: Config,
    engine: EngineName,
    { onNote, fresh }: DecoderOptions,
    parts: Parts,
    rows: FinishedRows | null,
  ) {
    const { labels, classes } = config;
    super(newStats(), { onNote, fresh, checks: parts.checks, labels, classes });
    bindMethods(this, ["decode", "decodeBatch", "update", "describe", "receive", "prepare"]);
    this.config = config;
    this.#parts = parts;
    this.engine = engine;
    this.#thresholds = config;
    this.#finished = rows;
    const mayLackOne = config.decodes && TRAITS[familyOf(config).family].mayLackOne;
    this.#missingOne = mayLackOne ? new MissingOne() : null;
    const known = knownSpecs(config);
    // Wait for the first frame if the row count varies per frame.
    const specs = known && this.#finished?.reads(known) ? null : known;
    const interpreted = specs && interpretConfig(config, specs, parts.tasks);
    // Wait for the first frame if the plan needs the values of an output, such as prior boxes.
    if (interpreted?.awaits === null) {
      this.#build(interpreted);
      this.#isFixed = true;
    }
    this.notes.report();
  }

  get configHash(): string | null {
    return this.config.decodes ? (this.#hash ??= hashOf(this.config)) : null;
  }

  receive(packet: Receivable): Detections {
    return this.receiveBy<Decoder>(packet, this);
  }

  protected detectionsOfRecords(rows: readonly DetectionFields[], sources: readonly number[]): Detections {
    const task = this.#work?.plan.task ?? this.config.task;
    const detections = detectionsOf(rows, sources, rowReaders(this.#parts.tasks), task);
    this.checks?.afterReceive(detections.classIds);
    this.notes.report();
    return detections;
  }

  get prepareRule(): PartialRule {
    return (this.#prepareRule ??= this.#prepare.ruleOf(this.config));
  }

  prepare(image: ImageInput, options?: PrepareOptions): Prepared {
    const engine = this.engine === "ts" ? "ts" : "auto";
    const rule = this.prepareRule as PrepareRule;
    // Copy the options only if they lack an engine. A detector states an engine, so that its frames allocate nothing.
    const withEngine: PrepareOptions = options?.engine === undefined ? { engine, ...options } : options;
    const prepared = this.#prepare.prepareImage(image, rule, withEngine);
    this.checks?.afterPrepare(image, prepared.frame, rule.size);
    this.notes.report();
    return prepared;
  }

  get #prepare(): PrepareTask {
    return neededTask(this.#parts.tasks, "prepare");
  }

  update(update: Update): void {
    const plan = this.#work?.plan;
    this.#thresholds = readUpdate(update, this.#thresholds, {
      bound: this.config.maxDetections,
      confidenceProblem: (confidence) =>
        typeof confidence === "number" ||
        (plan ? isPerClass(plan, confidence) : mayBePerClass(this.config, confidence))
          ? null
          : mismatch(`${confidence.length} values`, `${plan?.classes ?? this.config.classes}, one per class`),
    });
    if (this.#work) writeThresholds(this.#work, this.#thresholds);
  }

  describe(): Description {
    const { explain } = this.#parts;
    if (!explain) return refuseWithout("explain", "describe()");
    const config = { ...this.config, ...this.#thresholds };
    const plan = this.#work?.plan;
    const description = plan
      ? explain.describePlan(config, { ...plan, notes: this.notes.list })
      : explain.describeConfig(config);
    const text = this.#pictureText();
    return text ? { ...description, text: `${description.text}\npicture: ${text}` } : description;
  }

  /** Returns how pictures are prepared, or why they cannot be. Undefined if the decoder needs no picture. */
  #pictureText(): string | undefined {
    try {
      const prepare = this.#parts.tasks.find((one) => one.task === "prepare");
      return prepare?.ruleText(this.prepareRule);
    } catch (error) {
      if (error instanceof ConfigError) return `not prepared: ${error.message.replaceAll("\n", "; ")}`;
      throw error;
    }
  }

  protected get workspace(): PlanWorkspace | null {
    return this.#work;
  }

  protected get inputSizeIfKnown(): readonly [number, number] | null | undefined {
    return this.#work ? this.#work.inputSize : (this.config.inputSize ?? undefined);
  }

  protected get holdsTensors(): boolean {
    return !this.#holdsRows;
  }

  protected beforeScan(work: PlanWorkspace, blocks: readonly number[]): void {
    if (this.#hasCheckedRange || blocks !== work.blocks) return;
    const lost = checkRange(work);
    this.checks?.beforeScan(lost);
    this.#hasCheckedRange = true;
  }

  protected rangeError({ plan }: PlanWorkspace): TensorError {
    return rangeErrorOf(plan, plan.tensors[plan.heads[0].score.tensor], plan.about, null);
  }

  protected finish(work: PlanWorkspace, image: number, block: number, frame?: Frame): void {
    this.#hasCheckedList ||= checkListRange(work, image);
    for (const step of work.finish) step(image, block, frame);
  }

  protected lowestThreshold(): number {
    return Math.min(...[this.#thresholds.confidenceThreshold].flat());
  }

  protected workInSlots(): PlanWorkspace {
    if (!this.#work)
      throw new TensorError(
        "decode() was called without outputs, but the shapes are not known yet. " +
          "Pass the outputs once, or give `outputs` to createDecoder.",
      );
    if (this.#isBrought || this.#openRows.isOpen)
      throw new TensorError(
        "decode() was called without outputs, but the rows of this network are brought into another form " +
          "first. Pass the outputs with every call.",
      );
    if (this.#holdsRows)
      throw new TensorError(
        "decode() was called without outputs, but the slots hold only the rows gathered from the last outputs. " +
          "Either pass the outputs with every call, or write every tensor into its slot from the first frame on.",
      );
    return this.#work;
  }

  /** Converts finished rows to the shape that the plan reads. Returns other outputs unchanged. */
  #bring(outputs: Outputs, frames: Frames): Outputs {
    const finished = this.#finished;
    if (finished === null) return outputs;
    const before = finished.reading;
    const brought = finished.toOneForm(outputs, Array.isArray(frames) ? frames.length : null);
    if (before !== finished.reading || this.#isBrought !== (brought !== null)) this.#work = null;
    this.#isBrought = brought !== null;
    return brought ?? outputs;
  }

  /** Returns the workspace for these outputs. Makes a new one if the outputs do not fit the plan. */
  protected workFor(given: Outputs, frames: Frames): PlanWorkspace {
    let outputs = this.#openRoom(this.#bring(given, frames));
    if (!this.#fits(outputs)) {
      if (this.#work && !this.#isFixed && !this.#isBrought) {
        this.#openRows.open(this.#work.plan, this.#named(outputs));
        outputs = this.#openRoom(outputs);
      }
      if (!this.#fits(outputs)) this.#rebuild(outputs);
    }
    const work = this.#work as PlanWorkspace;
    const note = this.#missingOne?.addTo(work.plan, work.inputs) ?? null;
    if (note !== null) this.notes.add(note);
    return work;
  }

  /** Pads lists whose row count varies. Returns other outputs unchanged. */
  #openRoom(outputs: Outputs): Outputs {
    return this.#openRows.isOpen ? (this.#openRows.pad(this.#named(outputs)) ?? outputs) : outputs;
  }

  #named(outputs: Outputs): readonly (readonly [name: string, t: TensorInput])[] {
    const tensors = Object.values(outputs as { readonly [name: string]: TensorInput });
    const names = Array.isArray(outputs) ? this.#namesOf(tensors) : Object.keys(outputs);
    return tensors.map((t, i) => [names[i], t]);
  }

  #fits(outputs: Outputs): boolean {
    const { inputs } = this.#work ?? {};
    return inputs !== undefined && matchTensors(inputs, outputs) && fitTensors(inputs);
  }

  /** Copies the matched tensors into memory. Returns the plan blocks that read them. */
  protected bringIn(work: PlanWorkspace): readonly number[] {
    const { inputs, gatherBlocks } = work;
    const arrays = inputs.given;
    if (this.#holdsRows)
      for (let i = 0; i < inputs.slots.length; i++)
        if (isSlot(inputs.slots[i], (arrays[i] as TensorInput).data))
          throw new TensorError(
            `tensor "${inputs.tensors[i].name}" is the decoder's own slot, which holds only the rows gathered ` +
              "from the last outputs. " +
              "Either pass the outputs with every call, or write every tensor into its slot from the first frame on.",
          );
    const wantsWhole = !this.#hasCheckedRange || this.checks?.wantsWhole;
    if (!wantsWhole && canGather(work, inputs)) {
      this.#holdsRows = gatherRows(work, inputs);
      return gatherBlocks;
    }
    copyTensors(inputs);
    this.#holdsRows = false;
    return work.blocks;
  }

  /**
   * Returns how many images these outputs hold, or 1 if the shapes do not show the count. `toPacket` calls this
   * function, so that a device finds a batch before the receiver refuses it.
   */
  imagesIn(outputs: Outputs): number {
    const list = Array.isArray(outputs) ? Array.from(outputs as readonly TensorInput[]) : null;
    const names = list ? this.#namesOf(list) : Object.keys(outputs);
    const shapes = JSON.stringify(
      (list ?? Object.values(outputs)).map((t: TensorInput, i) => [names[i], t.dims]),
    );
    if (shapes !== this.#counted.shapes)
      this.#counted = { shapes, images: this.#countImages(names, outputs) };
    return this.#counted.images;
  }

  #countImages(names: readonly string[], outputs: Outputs): number {
    try {
      const specs = Object.values(outputs).map((t: TensorInput, i) =>
        specOf(names[i], t, this.#known(names[i])),
      );
      if (!this.config.decodes) return 1;
      const images = this.#finished?.imagesIn(specs) ?? null;
      if (images !== null) return images;
      const { interpretations } = interpretConfig(this.config, specs, this.#parts.tasks);
      // Return 1 for tensors that do not fit the config: the receiver reports the error.
      return interpretations.length === 0
        ? 1
        : Math.max(1, Math.min(...interpretations.map(({ batch }) => batch)));
    } catch (error) {
      // Let the receiver report what is wrong with these tensors.
      if (error instanceof TensorError) return 1;
      throw error;
    }
  }

  #known(name: string): KnownSpec {
    return this.config.outputs?.find((o) => o.name === name) ?? {};
  }

  /** Returns names for the tensors of an array: their own, else the config's in order, else output0, output1 ... */
  #namesOf(tensors: readonly TensorInput[]): string[] {
    const known = this.config.outputs ?? [];
    const ownNames = tensors.map((t) => (t as TensorInput | null)?.name);
    if (ownNames.every(isText) && (!this.#isFixed || known.every((o) => ownNames.includes(o.name))))
      return ownNames;
    const isInOrder =
      known.length === tensors.length &&
      known.every(
        ({ dims }, i) => dims === null || dims.join() === String((tensors[i] as TensorInput | null)?.dims),
      );
    return tensors.map((_, i) => (this.#isFixed || isInOrder ? known[i]?.name : undefined) ?? `output${i}`);
  }

  #rebuild(outputs: Outputs): void {
    const isList = Array.isArray(outputs);
    const tensors = (isList ? Array.from(outputs) : Object.values(outputs)) as readonly TensorInput[];
    const names = isList ? this.#namesOf(tensors) : Object.keys(outputs);
    const converted = this.#isBrought ? this.#finished?.converted : null;
    // Use the scale from the config for a tensor that states none.
    const specs = tensors.map((t, i) => ({
      ...specOf(names[i], t, this.#known(names[i])),
      ...(i === 0 && converted && { finished: converted.finished }),
    }));
    if (this.#isFixed && this.#work) checkShapes(specs, this.#work.plan.tensors);
    // Use the current thresholds, which `update` may have set. If there is one per class, they may be the only evidence
    // of the class count.
    const config = {
      ...this.config,
      confidenceThreshold: this.#thresholds.confidenceThreshold,
      ...converted?.config,
    };
    const numbers = specs.map((): ArrayLike<number> | null => null);
    const numbersAt = (i: number): ArrayLike<number> => (numbers[i] ??= numbersOf(specs[i], tensors[i].data));
    const read = interpretConfig(this.#openRows.named(config), specs, this.#parts.tasks, numbersAt);
    const at = (i: number): ArrayLike<number> => numbersAt(specs.indexOf(read.outputs[i]));
    const { settled, note } = settleByFrame(read, at, this.#earlier);
    this.#build(this.#openRows.count(settled), isList ? tensors.map((t) => t.name ?? null) : []);
    if (note !== null) this.notes.add(note);
    if (!matchTensors((this.#work as PlanWorkspace).inputs, outputs))
      refuse("", `outputs ${names.join(", ")}`, "each tensor once, by its name or in its place");
  }

  /** Makes everything that depends on these shapes. `ownNames` has the names of tensors in the caller's array. */
  #build(interpreted: Interpreted, ownNames: readonly (string | null)[] = []): void {
    const { specs } = interpreted;
    const { explain } = this.#parts;
    const { plan, layout } = assemble(interpreted, explain);
    const change = this.#work && explain?.noteOfChange(this.#work.plan, plan);
    const engine = makeEngine(this.engine, layout.bytes);
    const { memory } = engine;
    const image = { memory, plan, layout };
    writeImage(image, this.#thresholds);
    const places = plan.tensors.map(({ name }) => specs.findIndex((s) => s.name === name));
    const inputs = inputsOf(memory.buffer, plan.tensors, layout.slots, {
      places,
      outputs: specs.length,
      ownNames: places.map((i) => ownNames[i] ?? null),
      known: plan.tensors.map(({ name }) => this.#known(name)),
    });
    const labels = labelsOf(plan, this.config.labels);
    const detections = layout.detections.map((d) =>
      detectionsIn(memory.buffer, d, plan.maxDetections, labels),
    );
    this.#work = {
      ...image,
      engine,
      inputs,
      blocks: layout.imageBlocks,
      gatherBlocks: [layout.gatherBlock],
      inputSize: plan.inputSize,
      crops: plan.task?.crops,
      inPhoto: plan.inPhoto ?? false,
      detections,
      finish: attachTasks(this.#parts.tasks, {
        ...image,
        engine,
        config: this.config,
        detections,
        note: (text) => this.note(text),
        thresholds: () => this.#thresholds,
      }),
    };
    this.#earlier = earlierOf(plan);
    this.slots = this.#isBrought || this.#openRows.isOpen ? {} : slotsByName(inputs);
    this.#holdsRows = false;
    this.#hasCheckedRange = false;
    this.#hasCheckedList = !isList(plan.heads[0]);
    this.beginPlan(this.#work, plan.notes, labels);
    if (change) this.notes.add(change);
    this.stats.bytes = memory.buffer.byteLength;
    this.stats.plans++;
  }
}

/** Throws if a tensor of the plan is missing, or if its shape differs from the stated one. */
function checkShapes(specs: readonly TensorSpec[], planned: readonly TensorSpec[]): void {
  for (const { name, dims } of planned) {
    const got = specs.find((s) => s.name === name);
    const where = `tensor "${name}"`;
    if (!got)
      throw new TensorError(
        `${where} is missing: got outputs ${specs.map((s) => s.name).join(", ") || "none"}.`,
      );
    if (got.dims.join() !== dims.join())
      refuse(where, `dims [${got.dims.join(",")}]`, `[${dims.join(",")}] as given beforehand`);
  }
}
