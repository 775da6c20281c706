/** The steps of a frame, shared by the decoders of `createDecoder` and `loadPlan`. */
import type { EngineName } from "../core/engine-name.ts";
import { refuse } from "../core/errors.ts";
import { type TensorInput, show } from "../core/tensor.ts";
import { type Best, findBest } from "./best.ts";
import type { CheckedDecoder, Checks, FrameChecks } from "./checks.ts";
import type { DetectionFields, Detections } from "./detections.ts";
import type { Frame } from "./frame.ts";
import { type Inputs, type Outputs, type Slot, asOutputs, forgetTensors } from "./inputs.ts";
import { FrameLoop, type Frames, type Ready, isOutOfRange, oneFrame, oneImage } from "./loop.ts";
import { Notes } from "./notes.ts";
import type { Counters } from "./stats.ts";

/** Everything that a frame needs: engine, plan blocks, detections, and the slots of the tensors. */
export interface Workspace extends Ready {
  readonly inputs: Inputs;
}

/** Function that makes detections from a packet's records. `sources` holds the cell index of each record. */
export type ColumnsOf = (rows: readonly DetectionFields[], sources: readonly number[]) => Detections;

/** The part of a packet that `receive` uses. `D`: type of the decoder that the packet accepts. */
interface Received<D> {
  detectionsBy(decoder: D, columnsOf: ColumnsOf): Detections;
}

/** Options of the constructor, for decoders made from configs and from plan files. */
interface BaseOptions extends Pick<CheckedDecoder, "labels" | "classes"> {
  readonly onNote: ((note: string) => void) | undefined;
  readonly fresh: boolean | undefined;
  /** The checks for wrong input. Null if there are none. */
  readonly checks: Checks | null;
}

/** Decodes frames. A subclass provides the workspace of each frame. */
export abstract class FrameDecoder<W extends Workspace, S extends Counters> {
  abstract readonly engine: EngineName;
  readonly stats: S;
  slots: { readonly [name: string]: Slot } = {};
  readonly #loop: FrameLoop;
  readonly #isFresh: boolean;
  protected readonly notes: Notes;
  protected readonly checks: FrameChecks | null;
  /** Best score of the last frame. Undefined until the caller asks for it. Null if there is none. */
  #best: Best | null | undefined = null;

  constructor(stats: S, { onNote, fresh, checks, labels, classes }: BaseOptions) {
    this.stats = stats;
    this.#isFresh = fresh === true;
    this.notes = new Notes(onNote);
    this.checks = checks && checks.watch({ notes: this.notes, stats, labels, classes });
    this.#loop = new FrameLoop(stats, (image, block, frame) => this.#afterImage(image, block, frame));
  }

  decode(outputs?: Outputs | TensorInput, frame?: Frame): Detections {
    const reused = this.#run(outputs, oneFrame(frame), oneImage);
    this.#tell();
    return this.#isFresh ? reused.copy() : reused;
  }

  decodeBatch(outputs?: Outputs | TensorInput, frames?: Frame | readonly Frame[]): readonly Detections[] {
    const reused = this.#run(outputs, frames, allImages);
    this.#tell();
    return this.#isFresh ? reused.map((d) => d.copy()) : reused;
  }

  get best(): Best | null {
    if (this.#best === undefined) this.#best = findBest(this.workspace as W, this.holdsTensors);
    return this.#best;
  }

  /** Returns the detections of a packet. `decoder` is `this`, with the type that the packet accepts. */
  protected receiveBy<D>(packet: Received<D>, decoder: D): Detections {
    if (typeof (packet as Received<D> | null)?.detectionsBy !== "function")
      refuse("receive", show(packet), "what fromPacket(bytes) returned");
    // Forget the best score of the last frame: a packet of detections runs no frame.
    this.#best = null;
    return packet.detectionsBy(decoder, (rows, sources) => this.detectionsOfRecords(rows, sources));
  }

  /** Runs a frame. `resultOf` runs before the scan, and throws for a batch that a method cannot return. */
  #run<R>(outputs: Outputs | TensorInput | undefined, given: Frames, resultOf: (work: Ready) => R): R {
    // Treat null like undefined, because plain JavaScript may pass either.
    const frames = given ?? undefined;
    this.#loop.enter();
    try {
      this.#loop.check(frames, this.inputSizeIfKnown);
      const work = outputs === undefined ? this.workInSlots() : this.workFor(asOutputs(outputs), frames);
      const result = resultOf(work);
      const blocks = outputs === undefined ? work.blocks : this.bringIn(work);
      this.#best = null;
      this.beforeScan(work, blocks);
      this.#loop.run(work, frames, blocks);
      this.#best = undefined;
      if (this.checks?.wantsBest(this.stats.candidates))
        this.checks.afterEmpty(this.best, this.lowestThreshold(work));
      return result;
    } finally {
      if (outputs !== undefined && this.workspace) forgetTensors(this.workspace.inputs);
      this.#loop.leave();
    }
  }

  #afterImage(image: number, block: number, frame?: Frame): void {
    const work = this.workspace as W;
    if (isOutOfRange(work, block)) throw this.rangeError(work);
    // Gathered rows have a separate plan block. For them, the argument `isWhole` is false.
    this.checks?.afterImage(image, block, frame, block === work.blocks[image]);
    this.finish(work, image, block, frame);
    this.checks?.afterResult(work.detections[image]);
  }

  /** Resets the state of the last frame. A new plan begins with its own notes. */
  protected beginPlan(work: W, notes: readonly string[], labels: readonly string[] | null): void {
    this.#best = null;
    this.#loop.reset();
    this.notes.begin(notes);
    this.checks?.begin(work, labels);
  }

  /** Passes on a note. Notes between two frames, such as a note about a mask, are reported at once. */
  protected note(text: string): void {
    this.notes.add(text);
    // During a frame, wait: decode() reports notes at its end, when the result is complete.
    if (!this.#loop.isRunning) this.#tell();
  }

  /** Reports the notes. Refuses a decode() that `onNote` calls, because the caller has not received the result yet. */
  #tell(): void {
    this.#loop.enter();
    try {
      this.notes.report();
    } finally {
      this.#loop.leave();
    }
  }

  /** Workspace of the last frame. Null before the first frame, when shapes are unknown. */
  protected abstract get workspace(): W | null;
  /** Width and height of the network's input. Null if the plan states none. Undefined while they are unknown. */
  protected abstract get inputSizeIfKnown(): readonly [number, number] | null | undefined;
  /** True if the slots hold the whole tensors of the last frame. */
  protected abstract get holdsTensors(): boolean;
  /** Returns the workspace whose slots the caller has filled. Throws if there is none. */
  protected abstract workInSlots(): W;
  /** Returns the workspace for these outputs, after matching the tensors to its slots. */
  protected abstract workFor(outputs: Outputs, frames: Frames): W;
  /** Copies the matched tensors into memory. Returns the plan blocks that read them. */
  protected abstract bringIn(work: W): readonly number[];
  protected abstract beforeScan(work: W, blocks: readonly number[]): void;
  /** Returns the error about a probability outside 0..1 that the kernel found. */
  protected abstract rangeError(work: W): Error;
  /** Runs the steps of tasks after an image. */
  protected abstract finish(work: W, image: number, block: number, frame?: Frame): void;
  protected abstract lowestThreshold(work: W): number;
  protected abstract detectionsOfRecords(
    rows: readonly DetectionFields[],
    sources: readonly number[],
  ): Detections;
}

const allImages = (work: Ready): readonly Detections[] => work.detections;

/** Binds methods to their decoder, so that `const { decode } = decoder` works. Does not make them enumerable. */
export function bindMethods<D extends object>(decoder: D, names: readonly (keyof D & string)[]): void {
  for (const name of names)
    Object.defineProperty(decoder, name, {
      value: (decoder[name] as (...given: unknown[]) => unknown).bind(decoder),
      configurable: true,
      writable: true,
    });
}
