/** The numbers that a tensor's elements stand for. */
import { ELEMENTS, type TensorData, type TensorSpec, kindOf } from "./tensor.ts";

const { fround } = Math;

/** Returns the number that a quantised integer stands for, rounded to f32 at each step as the kernel does. */
export const dequantise = (raw: number, scale: number, zeroPoint: number): number =>
  fround(fround(fround(raw) - fround(zeroPoint)) * fround(scale));

/** Returns the number that the bits of a half float stand for. */
export function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** Returns a tensor's elements as the numbers they stand for. Prior boxes are read so, before any decode. */
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

/** Returns the smallest and the largest number that an element of a quantised tensor can stand for. */
export function rangeOf({ type, scale, zeroPoint }: TensorSpec): readonly [low: number, high: number] {
  const { low, high } = ELEMENTS[type];
  return [dequantise(low, scale ?? 1, zeroPoint), dequantise(high, scale ?? 1, zeroPoint)];
}
