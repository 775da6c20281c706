/** Adds masks for networks that output one map per row. Makes each mask on request, from the tensors in memory. */
import { P_SCALE_X } from "../../core/abi.ts";
import { type Detections, extend } from "../../decode/detections.ts";
import type { AfterImageOfTask, TaskWork } from "../../decode/tasks.ts";
import { readChannels } from "../../memory/extra.ts";
import type { Placement } from "./axis.ts";
import { type RowMaskFacts, type RowScene, maskFunctionsOf } from "./row-scene.ts";
import type { RowMaskPlan } from "./rows-of-masks.ts";
import { placementOf } from "./scene.ts";

/** Attaches the task of a plan whose rows have one map each. */
export function attachRowMasks(work: TaskWork): AfterImageOfTask {
  const { memory, detections, plan } = work;
  const task = plan.task as RowMaskPlan;
  const scenes = detections.map((found, image) => new LiveMaps(work, task, found, image));
  return (image, block, frame) => {
    scenes[image].placement = placementOf(frame, memory.f32, (block >> 2) + P_SCALE_X);
  };
}

/** The maps of one image in the decoder's memory, valid until the next frame. */
class LiveMaps implements RowScene {
  readonly facts: RowMaskFacts;
  placement: Placement = { frame: null, scale: [1, 1], shift: [0, 0] };
  readonly #work: TaskWork;
  readonly #tensor: number;
  readonly #image: number;
  readonly #map: Float32Array;

  constructor(
    work: TaskWork,
    { rowMasks, cells, tensors }: RowMaskPlan,
    detections: Detections,
    image: number,
  ) {
    this.#work = work;
    [this.#tensor] = tensors;
    this.#image = image;
    this.facts = { place: rowMasks, cells, inputSize: work.plan.inputSize };
    this.#map = new Float32Array(cells[0] * cells[1]);
    extend(detections, {}, maskFunctionsOf(this));
  }

  mapOf({ sources }: Detections, row: number): Float32Array {
    const { length } = this.#map;
    const column = { tensor: this.#tensor, offset: 0, channel: 1, cell: length };
    readChannels(this.#work, column, this.#image, sources[row], length, this.#map);
    return this.#map;
  }

  readonly reportNaN = (): void => {
    this.#work.note("masks hold NaN: no pixel that is NaN is set");
  };
}
