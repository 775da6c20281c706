/**
 * Values for network inputs that take the size of the photo. The detector passes the size of the network's own input
 * instead, so that the network outputs boxes in input pixels whatever the photo's size.
 */
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { ConstantInput, SessionTensor } from "./session.ts";

type Size = readonly [width: number, height: number];

/** A known input for the size. */
interface Known {
  /** Element type if the runtime states none. */
  readonly type: ConstantInput["type"];
  readonly values: (size: Size) => readonly [number, number];
}

const KNOWN: { readonly [name: string]: Known } = {
  // RT-DETR, D-FINE and DEIM, tools/export_onnx.py.
  orig_target_sizes: { type: "int64", values: (size) => size },
  // PaddleDetection, ppdet/engine/export_utils.py: height first. `scale_factor` has the factors from photo to input.
  im_shape: { type: "float32", values: ([width, height]) => [height, width] },
  scale_factor: { type: "float32", values: () => [1, 1] },
};

/** True if the detector knows the values of the input. */
export const isConstant = ({ name }: SessionTensor): boolean => Object.hasOwn(KNOWN, name);

/** Returns the input with its values. Throws a TensorError if the input does not take two numbers. */
export function constantOf({ name, dims, type }: SessionTensor, size: Size): ConstantInput {
  const known = KNOWN[name];
  const isPair = dims === null || (dims.length === 2 && isOpenOr(dims[0], 1) && isOpenOr(dims[1], 2));
  if (!isPair) refuse("inputs", `${name} [${dims.join()}]`, "[1,2], a pair of numbers for one picture");
  const values = known.values(size);
  const base = { name, dims: [1, 2] };
  switch (type ?? known.type) {
    case "int64":
      return { ...base, type: "int64", data: BigInt64Array.from(values, BigInt) };
    case "int32":
      return { ...base, type: "int32", data: Int32Array.from(values) };
    case "float32":
      return { ...base, type: "float32", data: Float32Array.from(values) };
    default:
      return refuse("inputs", `${name} of type ${show(type)}`, "int64, int32 or float32");
  }
}

const isOpenOr = (given: number | string | null, size: number): boolean =>
  typeof given !== "number" || given <= 0 || given === size;
