/** Adds masks. A scene makes the masks of one image on request, from the decoder's memory or from a copy. */
import { P_SCALE_X } from "../../core/abi.ts";
import { ELEMENTS, volume } from "../../core/tensor.ts";
import { type Detections, extend } from "../../decode/detections.ts";
import type { AfterImageOfTask, TaskMemory, TaskWork } from "../../decode/tasks.ts";
import { masksEngineIn } from "../../engine/masks-engine.ts";
import type { Head } from "../../heads/head.ts";
import { firstSource, headIndexOf, readChannels } from "../../memory/extra.ts";
import type { Placement } from "./axis.ts";
import { type MaskFunctions, paintLabels } from "./labels.ts";
import type { SegmentPlan } from "./plan.ts";
import { type Scene, maskIn, placementOf } from "./scene.ts";
import { type MaskSource, type MaskMemory, type Prototypes, hasRoom, prototypeBytes } from "./source.ts";

/** Facts that `attachMasks` needs. Plan files contain the same facts. */
export interface MaskTask {
  /** Index of the tensor that holds the prototypes. */
  readonly tensor: number;
  /** The prototypes of one image. */
  readonly prototypes: Prototypes;
  /** True if each row has one map of logits, and no coefficients. `prototypes` then describes the map of one row. */
  readonly isMapOfRow?: boolean;
  /** For each head: its cell count, and the channels of its coefficients. */
  readonly heads: readonly Pick<Head, "cells" | "extra">[];
}

/** Attaches the task of a plan. */
export function attachPlan(work: TaskWork): AfterImageOfTask {
  const { heads, task } = work.plan;
  const { tensors, prototypes, isMapOfRow } = task as SegmentPlan;
  return attachMasks(work, { tensor: tensors[0], prototypes, isMapOfRow, heads });
}

/** Adds masks to the detections of a plan. Makes a mask only on request, from the tensors in memory. */
export function attachMasks(work: TaskMemory, task: MaskTask): AfterImageOfTask {
  const { memory, detections } = work;
  const scenes = detections.map((found, image) => new LiveScene(work, task, found, image));
  return (image, block, frame) =>
    scenes[image].begin(placementOf(frame, memory.f32, (block >> 2) + P_SCALE_X));
}

/** One image of the batch. The prototypes and coefficients stay in the decoder's memory until the next frame. */
class LiveScene implements Scene {
  readonly inputSize: readonly [number, number] | null;
  placement: Placement = { frame: null, scale: [1, 1], shift: [0, 0] };
  readonly #work: TaskMemory;
  readonly #task: MaskTask;
  readonly #index: number;
  readonly #place: MaskMemory;
  /** Coefficients of the last requested row. */
  readonly #coefficients: Float32Array;
  /** A copy of the prototypes of this frame. All copies of the detections share it. */
  #prototypeCopy: { readonly bytes: Uint8Array } | null = null;

  constructor(work: TaskMemory, task: MaskTask, detections: Detections, index: number) {
    const { plan, layout, engine, memory } = work;
    this.#work = work;
    this.#task = task;
    this.#index = index;
    this.inputSize = plan.inputSize;
    this.#coefficients = new Float32Array(task.prototypes.count);
    const { tensor } = task;
    const { dims, type } = plan.tensors[tensor];
    this.#place = {
      engine: masksEngineIn(engine),
      i32: memory.i32,
      f32: memory.f32,
      at: layout.slots[tensor] + (volume(dims) / plan.batch) * index * ELEMENTS[type].bytes,
      // Scratch is free between frames.
      free: layout.order,
      freeEnd: layout.workEnd,
    };
    extend(
      detections,
      {},
      functionsOf(this, (from) => this.#copyScene(from)),
    );
  }

  begin(placement: Placement): void {
    this.#prototypeCopy = null;
    this.placement = placement;
  }

  get source(): MaskSource {
    const { engine } = this.#place;
    const { prototypes } = this.#task;
    const { isMapOfRow } = this.#task;
    const inMemory = hasRoom(this.#place, prototypes);
    return {
      engine: engine.name,
      prototypes,
      isMapOfRow,
      place: inMemory ? this.#place : { bytes: this.#bytes(this.#place.at) },
      reportNaN: this.#reportNaN,
    };
  }

  readonly #reportNaN = (coefficients: Float32Array): void => {
    const what = this.#task.isMapOfRow
      ? "values"
      : coefficients.every(Number.isFinite)
        ? "prototypes"
        : "coefficients";
    this.#work.note(`${what} of a mask are NaN or infinite: no pixel that is NaN is set`);
  };

  sourceOf({ sources }: Detections, row: number): MaskSource {
    const { source } = this;
    if (!this.#task.isMapOfRow) return source;
    const at = this.#place.at + sources[row] * prototypeBytes(source.prototypes);
    const place = "bytes" in source.place ? { bytes: this.#bytes(at) } : { ...this.#place, at };
    return { ...source, place };
  }

  /** Returns the prototypes at an address, or the map of a row. */
  #bytes(at: number): Uint8Array {
    return new Uint8Array(this.#place.engine.buffer, at, prototypeBytes(this.#task.prototypes));
  }

  /** Returns the functions of a copy of the detections. All copies from this frame share the prototypes. */
  #copyScene(detections: Detections): MaskFunctions {
    const { source, placement, inputSize } = this;
    const { isMapOfRow } = this.#task;
    const shared = isMapOfRow
      ? source
      : { ...source, place: (this.#prototypeCopy ??= { bytes: this.#bytes(this.#place.at).slice() }) };
    const rows = Array.from({ length: detections.length }, (_, row): CopiedRow => {
      const coefficients = this.coefficientsOf(detections, row).slice();
      if (!isMapOfRow) return { coefficients, source: shared };
      const at = this.#place.at + detections.sources[row] * prototypeBytes(source.prototypes);
      return { coefficients, source: { ...source, place: { bytes: this.#bytes(at).slice() } } };
    });
    return copiedFunctions({ inputSize, placement, source: shared }, rows);
  }

  coefficientsOf({ sources }: Detections, row: number): Float32Array {
    const {
      heads,
      prototypes: { count },
    } = this.#task;
    const values = this.#coefficients;
    if (this.#task.isMapOfRow) return values.fill(1);
    const k = headIndexOf(heads, sources[row]);
    const column = heads[k].extra as NonNullable<Head["extra"]>;
    readChannels(this.#work, column, this.#index, sources[row] - firstSource(heads, k), count, values);
    return values;
  }
}

interface CopiedRow {
  readonly source: MaskSource;
  readonly coefficients: Float32Array;
}

/** Returns the functions of copied detections. These functions own all data, so that later frames do not change it. */
function copiedFunctions(
  facts: Pick<Scene, "inputSize" | "placement" | "source">,
  rows: readonly CopiedRow[],
): MaskFunctions {
  const scene: Scene = {
    ...facts,
    sourceOf: (_, row) => rows[row].source,
    coefficientsOf: (_, row) => rows[row].coefficients,
  };
  const functions: MaskFunctions = {
    ...functionsOf(scene, () => functions),
    select: (picked, to) => {
      const few = picked.map((row) => rows[row]);
      return extend(to, {}, copiedFunctions(facts, few));
    },
  };
  return functions;
}

/** Returns the functions of detections whose masks a scene makes. `copied` returns the functions of a copy. */
const functionsOf = (scene: Scene, copied: (detections: Detections) => MaskFunctions): MaskFunctions => ({
  copy: (from, to) => extend(to, {}, copied(from)),
  mask: (from, row, options) => maskIn(scene, from, row, options),
  labelMap: (from, options) => paintLabels(scene, from, options),
});
