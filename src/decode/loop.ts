/** The loop over the images of a frame, shared by `createDecoder` and `loadPlan`. */
import * as A from "../core/abi.ts";
import { TensorError, refuse, refuseValue } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { type Affine, IDENTITY, writeAffine } from "../memory/write.ts";
import { type Detections, setFrameSize, setLength } from "./detections.ts";
import { type Frame, affineOf, checkFrame, uprightOf } from "./frame.ts";
import { turnBack } from "./turn.ts";
import { type Counters, countFrame, countImage } from "./stats.ts";

/** Everything that a frame needs. */
export interface Ready {
  readonly engine: Engine;
  /** Addresses of the plan blocks, one for each image of the batch. */
  readonly blocks: readonly number[];
  /** Size of the network input in pixels; null if it is not known. */
  readonly inputSize: readonly [number, number] | null;
  /**
   * Crops that a frame may have. "turned": any crop, because the task maps points from a rotated crop to the image.
   * "upright" (default): crops without an angle. "none": no crop, because masks and oriented boxes are not mapped back.
   */
  readonly crops?: "turned" | "upright" | "none";
  /** True if boxes are in pixels of the photo, not of the input. */
  readonly inPhoto: boolean;
  /** The result of each image. */
  readonly detections: readonly Detections[];
}

/** Frames of one call: one frame for all images of a batch, one for each image, or none. */
export type Frames = Frame | readonly Frame[] | undefined;

/** Called after each image. `frame` is the upright one. The loop turns the detections back after this call. */
export type AfterImage = (image: number, block: number, frame?: Frame) => void;

/** Decodes the images of one call, one after the other. Allocates nothing. */
export class FrameLoop {
  readonly #stats: Counters;
  readonly #afterImage: AfterImage;
  /** The last frame, if it is frozen. Other frames may change, so they are not kept. */
  #frame: Frame | null = null;
  #affine: Affine = IDENTITY;
  /** Upright version of the last frame, from `uprightOf`. */
  #upright: Frame | undefined;
  /** True during a call, including the calls of `onNote`. Only `enter` and `leave` write this field. */
  isRunning = false;

  constructor(stats: Counters, afterImage: AfterImage) {
    this.#stats = stats;
    this.#afterImage = afterImage;
  }

  /** Forgets the last frame, because the input size may have changed. */
  reset(): void {
    this.#frame = null;
  }

  /** Begins a call. Refuses calls until `leave`: `onNote`, or a getter, could call decode() in between. */
  enter(): void {
    if (this.isRunning)
      throw new TensorError(
        "decode() was called from within a call of the same decoder, by onNote or by a getter of its tensors. " +
          "It would overwrite the result of that call. Use a second decoder.",
      );
    this.isRunning = true;
  }

  leave(): void {
    this.isRunning = false;
  }

  /** Checks the frames before anything is copied. `input` is undefined while the input size is unknown. */
  check(frames: Frames, input: readonly [number, number] | null | undefined): void {
    if (frames === undefined || frames === this.#frame) return;
    if (Array.isArray(frames)) for (const frame of frames as readonly Frame[]) checkFrame(frame, input);
    else checkFrame(frames as Frame, input);
  }

  /** Runs the engine over every image, on the plan blocks `blocks`. */
  run(ready: Ready, frames: Frames, blocks: readonly number[] = ready.blocks): void {
    const { engine, detections } = ready;
    if (Array.isArray(frames) && frames.length !== blocks.length)
      throw new TensorError(
        `frames: got ${frames.length}, expected ${blocks.length}, one for each image of the batch, or a single one for all`,
      );
    for (let image = 0; image < blocks.length; image++) checkTask(ready, frameOf(frames, image));
    for (let image = 0; image < blocks.length; image++)
      writeAffine(engine.memory, blocks[image], this.#affineFor(frames, image, ready));
    countFrame(this.#stats);
    for (let image = 0; image < blocks.length; image++) {
      const block = blocks[image];
      setLength(detections[image], engine.decode(block));
      countImage(this.#stats, engine.memory, block);
      const frame = frameOf(frames, image);
      this.#afterImage(image, block, this.#uprightFor(frame));
      if (frame?.rotation) turnBack(detections[image], frame.rotation);
      setFrameSize(detections[image], frame ?? ready.inputSize ?? undefined);
    }
  }

  #affineFor(frames: Frames, image: number, { inputSize, inPhoto }: Ready): Affine {
    const frame = frameOf(frames, image);
    if (frame === undefined) return IDENTITY;
    if (frame === this.#frame) return this.#affine;
    checkFrame(frame, inputSize);
    this.#upright = uprightOf(frame);
    this.#affine = affineOf(this.#upright, inputSize, inPhoto);
    this.#frame = Object.isFrozen(frame) ? frame : null;
    return this.#affine;
  }

  #uprightFor(frame: Frame | undefined): Frame | undefined {
    return frame === undefined || frame === this.#frame ? frame && this.#upright : uprightOf(frame);
  }
}

/** Throws if results cannot be converted back from the frame's crop or rotation. */
function checkTask({ crops = "upright" }: Ready, frame: Frame | undefined): void {
  if (frame?.rotation && crops === "turned")
    refuseValue(
      "frame.rotation",
      `${frame.rotation} for a network that is given crops`,
      "a crop with an angle, which turns the picture as well",
    );
  if (frame?.crop === undefined || crops === "turned") return;
  if (crops === "none")
    refuse("frame", "a crop", "the whole image: masks and oriented boxes are not taken back from a crop");
  if ((frame.crop.angle ?? 0) !== 0)
    refuse(
      "frame",
      `a crop that is turned by ${frame.crop.angle}`,
      "an upright one: boxes would not stay upright. Networks that give points of one object take it",
    );
}

const frameOf = (frames: Frames, image: number): Frame | undefined =>
  Array.isArray(frames) ? (frames as readonly Frame[])[image] : (frames as Frame | undefined);

/** Returns the frame passed to `decode`. Throws if it is a list. */
export function oneFrame(frame: Frame | undefined): Frame | undefined {
  if (Array.isArray(frame)) checkFrame(frame as unknown as Frame, undefined);
  return frame;
}

/** Returns the only result. Throws if memory holds several images. */
export function oneImage(ready: Ready): Detections {
  if (ready.detections.length !== 1)
    throw new TensorError(
      `the outputs hold a batch of ${ready.detections.length} images, and decode() returns the ` +
        "detections of one. Pass one image a call, or call decodeBatch() of a decoder.",
    );
  return ready.detections[0];
}

/** True if the kernel counted a probability in this block that exceeds 1 by more than rounding. */
export const isOutOfRange = ({ engine }: Ready, block: number): boolean =>
  engine.memory.i32[(block >> 2) + A.P_OUT_OF_RANGE] > 0;
