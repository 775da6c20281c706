/** A tensor's elements as the numbers they stand for, where a few are wanted before any decode: prior boxes. */
import { dequantise, halfToFloat } from "../engine/ts/value.ts";
import { type TensorData, type TensorSpec, kindOf } from "./tensor.ts";

export function numbersOf(s: TensorSpec, data: TensorData): ArrayLike<number> {
  const bits = s.type === "f16" && kindOf(data) !== "Float16Array";
  if (s.type === "f32" || !(bits || s.scale !== null))
    return kindOf(data).startsWith("Big")
      ? Array.from(data as ArrayLike<number>, Number)
      : (data as ArrayLike<number>);
  return Array.from(data as ArrayLike<number>, (x) =>
    bits ? halfToFloat(x & 0xffff) : dequantise(Number(x), s.scale as number, s.zeroPoint),
  );
}
