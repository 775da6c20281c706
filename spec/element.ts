/** Elements of a tensor, and the numbers that they stand for. */
import type { Column } from "../src/heads/channels.ts";
import type { TensorSpec } from "../src/core/tensor.ts";
import type { Plan } from "../src/plan/plan.ts";

/** Elements of each tensor by its name, in memory order. Elements of f16 are given as 16 bits. */
export interface Tensors {
  readonly [name: string]: ArrayLike<number>;
}

/** Returns the number that 16 bits represent as a half float. Source: IEEE 754, binary16. */
export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Returns the number in an element, without scale and zero point. */
export const stored = (spec: TensorSpec, element: number): number =>
  spec.type === "f16" ? half(element & 0xffff) : element;

/**
 * Returns the real number that an element represents: (q - zeroPoint) * scale. Source: depthai-core, for every element
 * type; ONNX DequantizeLinear and TensorFlow Lite do the same.
 */
export const dequantise = (spec: TensorSpec, element: number): number =>
  (stored(spec, element) - spec.zeroPoint) * (spec.scale ?? 1);

/** Reads columns from the tensors of one image. In each tensor, the images of a batch follow each other. */
export class ColumnReader {
  readonly plan: Plan;
  readonly tensors: Tensors;
  /** First element of the image in each tensor of the plan. */
  readonly starts: readonly number[];

  constructor(plan: Plan, tensors: Tensors, image: number) {
    this.plan = plan;
    this.tensors = tensors;
    this.starts = plan.tensors.map(
      ({ dims }) => (dims.reduce((product, n) => product * n, 1) / plan.batch) * image,
    );
  }

  /** Returns the element of a column at a cell and a channel. */
  element(
    { tensor, offset, cell: cellStep, channel: channelStep }: Column,
    cell: number,
    channel = 0,
  ): number {
    const at = this.starts[tensor] + offset + cell * cellStep + channel * channelStep;
    return this.tensors[this.plan.tensors[tensor].name][at];
  }

  /** Returns the real number at a cell and a channel. */
  real(column: Column, cell: number, channel = 0): number {
    return dequantise(this.plan.tensors[column.tensor], this.element(column, cell, channel));
  }

  /** Returns the number at a cell as it is stored: markers and counts have no scale. */
  stored(column: Column, cell: number): number {
    return stored(this.plan.tensors[column.tensor], this.element(column, cell));
  }
}
