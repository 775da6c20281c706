/** The worker's jobs for the page. Tensors and models stay in the worker; the page has their ids. */
import type { Decoder, DecoderOptions, Detections, DetectorOptions, Frame, Model } from "boxwright";
import type { NamedTensor, TensorHead } from "@repo/src/node/files/tensor.ts";
import type { Possibility } from "@repo/src/node/possibility.ts";
import type { HeatMap } from "../heat.ts";
import { type Grid, type Range, rangeOf, rawGrid } from "../numbers.ts";
import type { Run } from "../thread.ts";
import { type FileContents, type Photo, readFile } from "./files.ts";
import { type LoadedExample, loadExample } from "./load-example.ts";
import { possibilitiesOf } from "./possibilities.ts";
import {
  type Candidate,
  CandidateFinder,
  type Thresholds,
  type DecodeInput,
  makeHeatMap,
  openDecoder,
  withLabels,
} from "./reading.ts";
import type { OpenNetwork } from "./network.ts";
import { provideScalar } from "./scalar.ts";
import { type EngineTime, timeEngines } from "./timing.ts";

/** A tensor in the worker. */
export interface TensorInfo extends TensorHead {
  readonly id: number;
}

/** A model in the worker. */
export interface ModelInfo {
  readonly id: number;
  readonly name: string;
  readonly format: Model["format"];
  readonly missing: Model["missing"];
}

/** A file's contents, without the parts that stay in the worker. */
export type FileInfo =
  | Exclude<FileContents, { readonly kind: "tensors" | "model" }>
  | { readonly kind: "tensors"; readonly tensors: readonly TensorInfo[] }
  | { readonly kind: "model"; readonly model: ModelInfo };

/** Arguments of the job `open`. */
interface OpenRequest {
  readonly tensors: readonly number[];
  /** Id of the model; used if `config` is null. The model's file then states how to decode. */
  readonly model: number | null;
  readonly config: unknown;
  readonly options: DecoderOptions;
  readonly frame: Frame | undefined;
}

/** An open decoder. */
export interface Opened {
  readonly engine: Decoder["engine"];
  readonly inputSize: Decoder["config"]["inputSize"];
  readonly description: string;
  /** Count of classes, if the config or the shapes state it. */
  readonly classes: number | null;
  /** True if the classes have names. */
  readonly isNamed: boolean;
  /** The config's thresholds. */
  readonly confidence: number | null;
  readonly iou: number;
}

/** Result of the job `decode`. */
export interface Found {
  readonly rows: ReturnType<Detections["toArray"]>;
  readonly edges: Detections["edges"];
  /** Mask outlines of each row, on a picture of the requested size; null without masks. */
  readonly outlines: readonly (readonly { outer: readonly number[]; holes: readonly number[][] }[])[] | null;
  readonly ms: number;
  readonly notes: readonly string[];
}

/** Result of the job `viewTensor`: the range and a small picture of the values. */
export interface TensorView {
  readonly range: Range;
  readonly grid: Grid;
}

/** The open decoder. Jobs of an earlier decoder end early. */
interface Current {
  readonly input: DecodeInput;
  readonly decoder: Decoder;
  readonly notes: string[];
  readonly suppressesAcrossClasses: boolean;
  /** Undefined until first use. */
  finder: CandidateFinder | null | undefined;
}

let count = 0;
const tensors = new Map<number, NamedTensor>();
const models = new Map<number, { readonly model: Model; readonly bytes: Uint8Array }>();
let current: Current | null = null;
/** The network that `compile` opened, until `run` takes it. */
let network: OpenNetwork | null = null;

function tensorOf(id: number): NamedTensor {
  const tensor = tensors.get(id);
  if (tensor === undefined) throw new Error("This tensor is gone. Drop its file again.");
  return tensor;
}

function modelOf(id: number): { readonly model: Model; readonly bytes: Uint8Array } {
  const model = models.get(id);
  if (model === undefined) throw new Error("This model is gone. Drop its file again.");
  return model;
}

function keepTensor(tensor: NamedTensor): TensorInfo {
  const { name, dims, type, scale, zeroPoint, order } = tensor;
  const id = ++count;
  tensors.set(id, tensor);
  return { id, name, dims, type, scale, zeroPoint, order };
}

function infoOf(file: FileContents): FileInfo {
  if (file.kind === "tensors") return { kind: "tensors", tensors: file.tensors.map(keepTensor) };
  if (file.kind !== "model") return file;
  const { name, model, bytes } = file;
  const id = ++count;
  models.set(id, { model, bytes });
  return { kind: "model", model: { id, name, format: model.format, missing: model.missing } };
}

function decodeAt(thresholds: Thresholds): { found: Detections; ms: number } {
  const { decoder, input } = currentWork();
  decoder.update(thresholds);
  const start = performance.now();
  const found = decoder.decode(input.tensors as never, input.frame);
  return { found, ms: performance.now() - start };
}

function currentWork(): Current {
  if (current === null) throw new Error("Nothing is decoded yet.");
  return current;
}

export const jobs = {
  async readFile(file: File): Promise<FileInfo> {
    return infoOf(await readFile(file));
  },

  async loadExample(name: string): Promise<Omit<LoadedExample, "files"> & { readonly files: FileInfo[] }> {
    const { files, ...stated } = await loadExample(name);
    return { ...stated, files: files.map(infoOf) };
  },

  /** Frees all other tensors and models. */
  keep(ids: readonly number[]): void {
    for (const map of [tensors, models]) for (const id of map.keys()) if (!ids.includes(id)) map.delete(id);
    if (!current?.input.tensors.every((tensor) => [...tensors.values()].includes(tensor))) current = null;
  },

  bytesOf: (model: number): Uint8Array => modelOf(model).bytes,

  possibilities(ids: readonly number[], options: DecoderOptions): readonly Possibility[] {
    return possibilitiesOf({ tensors: ids.map(tensorOf), options });
  },

  possibilitiesOfModel(model: number, options: DecoderOptions): readonly Possibility[] {
    return possibilitiesOf({ model: modelOf(model).model, options });
  },

  /** Downloads the runtime once. */
  async loadRuntime(): Promise<void> {
    await (await import("./network.ts")).loadRuntime();
  },

  /** Compiles a model. `run` runs it. */
  async compile(model: number, options: DetectorOptions, config: unknown): Promise<void> {
    const { openNetwork } = await import("./network.ts");
    await network?.detector.close();
    network = null;
    network = await openNetwork(modelOf(model).bytes, options, config ?? undefined);
  },

  /** Runs the compiled model on a photo, and closes it. */
  async run(photo: Photo["bitmap"]) {
    if (network === null) throw new Error("No network is compiled.");
    const { detector, outputs } = network;
    network = null;
    try {
      await detector.detect(photo as never);
      const { prepare, run } = detector.timings;
      const resize: string = detector.decoder.prepareRule.resize ?? "letterbox";
      return { prepare, run, resize, tensors: outputs().map(keepTensor) };
    } finally {
      await detector.close();
    }
  },

  async open({ tensors: ids, model, config, options, frame }: OpenRequest): Promise<Opened> {
    const input: DecodeInput = {
      config: config === null ? modelOf(model!).model : withLabels(config as never),
      options,
      tensors: ids.map(tensorOf),
      frame,
    };
    const notes: string[] = [];
    const decoder = await openDecoder(input, { onNote: (note) => void notes.push(note) });
    // Make the plan before timing decodes. If this fails, `decode` reports the error.
    try {
      decoder.decode(input.tensors as never, frame);
    } catch {}
    const { text, json } = decoder.describe();
    const classes = json.kind === "plan" ? json.classes : null;
    const suppressesAcrossClasses = json.kind === "plan" && json.rules.suppress === "all";
    current = { input, decoder, notes, suppressesAcrossClasses, finder: undefined };
    const { confidenceThreshold, iouThreshold, inputSize } = decoder.config;
    return {
      engine: decoder.engine,
      inputSize,
      description: text,
      classes: decoder.config.classes ?? classes,
      isNamed: decoder.config.labels !== undefined && decoder.config.labels !== null,
      confidence: typeof confidenceThreshold === "number" ? confidenceThreshold : null,
      iou: iouThreshold,
    };
  },

  decode(thresholds: Thresholds, size: readonly [number, number]): Found {
    const { decoder, notes } = currentWork();
    const { found, ms } = decodeAt(thresholds);
    const rows = found.toArray();
    const hasMasks = decoder.config.task?.name === "segment";
    return {
      rows,
      edges: found.edges,
      outlines: hasMasks ? rows.map((_, i) => found.mask(i, { size }).toPolygons() as never) : null,
      ms,
      notes: notes.splice(0),
    };
  },

  /** Returns the candidates above the threshold, before suppression; null if they cannot be computed. */
  async candidates(thresholds: Thresholds): Promise<readonly Candidate[] | null> {
    const mine = currentWork();
    mine.finder ??= await CandidateFinder.open(mine.input);
    if (mine.finder === null) return null;
    try {
      return mine.finder.find(
        mine.input,
        decodeAt(thresholds).found,
        thresholds,
        mine.suppressesAcrossClasses,
      );
    } catch {
      return null;
    }
  },

  async viewTensor(id: number): Promise<TensorView> {
    const tensor = tensorOf(id);
    return { range: await rangeOf(tensor), grid: rawGrid(tensor) };
  },

  heat: (): Promise<HeatMap | null> => makeHeatMap(currentWork().input),

  async times(thresholds: Thresholds): Promise<readonly EngineTime[]> {
    await provideScalar();
    const mine = currentWork();
    return timeEngines(mine.input, thresholds, () => current !== mine);
  },
};

/** Runs a job of this file in the worker, and returns its result. */
export type RunJob = Run<typeof jobs>;
