/** Types of decoders and detections by the task that typed options state. */
import type { Decoder } from "./decoder.ts";
import type { Detection, Detections, Keypoint, Point } from "./detections.ts";
import type { Frame } from "./frame.ts";
import type { Outputs } from "./inputs.ts";
import type { TensorInput } from "../core/tensor.ts";

/** Detections whose rows have keypoints. */
export interface PoseDetections extends Detections {
  readonly keypoints: Float32Array;
  at(i: number): PoseDetection | undefined;
  toArray(): PoseDetection[];
  copy(): PoseDetections;
  [Symbol.iterator](): IterableIterator<PoseDetection>;
}

/** A detection with keypoints. */
export interface PoseDetection extends Detection {
  readonly keypoints: readonly Keypoint[];
}

/** A decoder whose typed options state the task "pose". */
export interface PoseDecoder extends Decoder {
  decode(outputs?: Outputs | TensorInput, frame?: Frame): PoseDetections;
  decodeBatch(outputs?: Outputs | TensorInput, frames?: Frame | readonly Frame[]): readonly PoseDetections[];
}

/** Detections whose rows are oriented boxes. */
export interface OrientedDetections extends Detections {
  readonly angles: Float32Array;
  readonly corners: Float32Array;
  at(i: number): OrientedDetection | undefined;
  toArray(): OrientedDetection[];
  copy(): OrientedDetections;
  [Symbol.iterator](): IterableIterator<OrientedDetection>;
}

/** A detection with an angle and four corners. */
export interface OrientedDetection extends Detection {
  readonly angle: number;
  readonly corners: readonly Point[];
}

/** A decoder whose typed options state the task "oriented". */
export interface OrientedDecoder extends Decoder {
  decode(outputs?: Outputs | TensorInput, frame?: Frame): OrientedDetections;
  decodeBatch(
    outputs?: Outputs | TensorInput,
    frames?: Frame | readonly Frame[],
  ): readonly OrientedDetections[];
}

/**
 * Type of the decoder for a config. The fields of detections follow from a task stated as a literal. For a config file,
 * they follow from the only task in `T`.
 */
export type DecoderOf<C, T extends { readonly task: string } = never> = [TaskOf<C, T>] extends [never]
  ? Decoder
  : [TaskOf<C, T>] extends ["pose"]
    ? PoseDecoder
    : [TaskOf<C, T>] extends ["oriented"]
      ? OrientedDecoder
      : Decoder;

type TaskOf<C, T extends { readonly task: string }> =
  IsAny<C> extends true
    ? PassedTask<T>
    : C extends { readonly task: infer Stated }
      ? Stated
      : C extends { readonly family: string }
        ? undefined
        : PassedTask<T>;

type PassedTask<T extends { readonly task: string }> = Exclude<T["task"], "suppression" | "prepare">;

/** True for the type that `JSON.parse` returns, which fits every type. */
type IsAny<C> = 0 extends 1 & C ? true : false;
