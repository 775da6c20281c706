/** Makes the text boxes of a frame, with angles and corners as oriented boxes have them. */
import * as A from "../../core/abi.ts";
import { angleOfVector } from "../../core/elementary.ts";
import { refuseFor } from "../../core/errors.ts";
import { CORNER_VALUES, type Detections, setLength } from "../../decode/detections.ts";
import type { AfterImageOfTask, TaskWork } from "../../decode/tasks.ts";
import { readChannels } from "../../memory/extra.ts";
import { slackOf } from "../../memory/thresholds.ts";
import { addOrientedColumns } from "../oriented/rows.ts";
import { MOST_BORDERS, TEXT_VALUES, TextReader } from "./boxes.ts";
import type { TextPlan } from "./plan.ts";

/** Attaches the task of a plan. */
export function attachText(work: TaskWork): AfterImageOfTask {
  addOrientedColumns(work.detections);
  const maker = new TextMaker(work, work.plan.task as TextPlan);
  return (image, block) => maker.make(image, block >> 2);
}

/** Largest allowed fraction of text pixels. Networks mark the cores of lines, with gaps between the lines. */
const MOST_TEXT = 0.9;

/** Makes the boxes of one plan. */
class TextMaker {
  readonly #work: TaskWork;
  readonly #task: TextPlan;
  readonly #reader: TextReader;
  readonly #map: Float32Array;

  constructor(work: TaskWork, task: TextPlan) {
    const { width, height, settings } = task;
    this.#work = work;
    this.#task = task;
    this.#map = new Float32Array(width * height);
    this.#reader = new TextReader(width, height, settings, work.plan.maxDetections);
  }

  /** @param plan word address of the image's plan block */
  make(image: number, plan: number): void {
    const { memory, detections, plan: all } = this.#work;
    const { length } = this.#map;
    const column = { ...all.heads[0].score, cell: length };
    readChannels(this.#work, column, image, 0, length, this.#map);
    const threshold = this.#work.thresholds().confidenceThreshold;
    const reader = this.#reader;
    const count = reader.read(this.#map, typeof threshold === "number" ? threshold : threshold[0]);
    this.#checkMap();
    if (reader.isCut)
      this.#work.note(
        `the map has more than ${MOST_BORDERS} borders of texts and holes: the others are left out`,
      );
    this.#write(detections[image], Math.min(count, memory.i32[plan + A.P_MAX_DETECTIONS]), plan);
  }

  /** Adds a note about NaN in the last map. Throws a TensorError for values that are no probabilities. */
  #checkMap(): void {
    const { plan } = this.#work;
    const slack = slackOf(plan.tensors[plan.heads[0].score.tensor]);
    const { least, most, lost, texts } = this.#reader.range;
    if (lost > 0)
      this.#work.note("the map of text holds NaN, which belongs to no text: has the network overflowed?");
    if (texts > MOST_TEXT * this.#map.length)
      this.#work.note(
        `${texts} of ${this.#map.length} pixels of the map belong to texts: are these the probabilities, and was the ` +
          "sigmoid applied once?",
      );
    if (most > 1 + slack || least < -slack)
      refuseFor(
        [],
        this.#task.about,
        `values from ${Number(least.toPrecision(4))} to ${Number(most.toPrecision(4))}`,
        "probabilities in 0..1. The network ends in a sigmoid; a transposed tensor or a wrong scale gives such numbers too",
      );
  }

  #write(detections: Detections, count: number, plan: number): void {
    const { f32 } = this.#work.memory;
    const { width, height } = this.#task;
    const [frameWidth, frameHeight] = this.#sidesOfFrame(plan);
    const { boxes } = this.#reader;
    const { angles, corners } = detections as { angles: Float32Array; corners: Float32Array };
    const size = [width, height];
    for (let row = 0; row < count; row++) {
      const from = row * TEXT_VALUES;
      const to = row * CORNER_VALUES;
      const bounds = [Infinity, Infinity, -Infinity, -Infinity];
      for (let k = 0; k < CORNER_VALUES; k++) {
        const axis = k & 1;
        const place = (boxes[from + 1 + k] / size[axis]) * f32[plan + A.P_SCALE_X + axis];
        const at = Math.fround(place + f32[plan + A.P_SHIFT_X + axis]);
        corners[to + k] = at;
        if (at < bounds[axis]) bounds[axis] = at;
        if (at > bounds[axis + 2]) bounds[axis + 2] = at;
      }
      detections.boxes.set(bounds, row * 4);
      // Compute the angle of the upper side in pixels of the upright picture. A frame with a rotation has the same
      // angle, since `regular` returns angles modulo a quarter turn.
      angles[row] = regular(
        angleOfVector(
          (corners[to + 2] - corners[to]) * frameWidth,
          (corners[to + 3] - corners[to + 1]) * frameHeight,
        ),
      );
      detections.scores[row] = boxes[from];
      detections.classIds[row] = 0;
      detections.sources[row] = 0;
    }
    setLength(detections, count);
  }

  /** Returns the sides of the frame in pixels of the input, so that angles keep the frame's aspect ratio. */
  #sidesOfFrame(plan: number): readonly [number, number] {
    const { f32 } = this.#work.memory;
    const [width, height] = this.#work.plan.inputSize ?? [this.#task.width, this.#task.height];
    return [width / f32[plan + A.P_SCALE_X], height / f32[plan + A.P_SCALE_Y]];
  }
}

function regular(angle: number): number {
  const quarter = Math.PI / 2;
  const rest = angle % quarter;
  const positive = rest < 0 ? rest + quarter : rest;
  return positive >= quarter ? 0 : positive;
}
