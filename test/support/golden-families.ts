/** Loads the golden cases of `golden/families`: tensors of networks, and answers of formulas in doubles. */
import { join } from "node:path";
import type { TensorInput, TypeName } from "../../src/core/tensor.ts";
import type { GoldenMask } from "./mask-pixels.ts";
import { readBytes, readJson } from "./shared-data.ts";

/** A tensor as the fixture states it. */
interface GoldenOutput {
  readonly name: string;
  readonly file: string;
  readonly dtype: keyof typeof ARRAYS;
  readonly shape: readonly number[];
  readonly scale?: number;
  readonly zero_point?: number;
}

export interface GoldenBox {
  readonly row?: number;
  readonly class_id: number;
  readonly confidence: number;
  readonly fused_confidence?: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  readonly corners?: readonly (readonly number[])[];
  readonly keypoints?: readonly (readonly [number, number, number])[];
  readonly masks?: { readonly [rule: string]: GoldenMask };
  readonly uncertain?: { readonly [rule: string]: number };
}

export interface GoldenFamily {
  readonly family: string;
  readonly input: { readonly width: number; readonly height: number };
  readonly classes: number;
  readonly gate: number;
  readonly iou?: number;
  readonly outputs: readonly GoldenOutput[];
  readonly detections: readonly GoldenBox[];
  readonly components?: readonly GoldenBox[];
  /** The best class of each query (depthai-nodes), and every column a class (`predict()`). */
  readonly by_query?: { readonly detections: readonly GoldenBox[] };
  readonly all_logits?: { readonly detections: readonly GoldenBox[] };
  readonly second_image?: readonly GoldenBox[];
}

const ARRAYS = {
  float32: [Float32Array, "f32"],
  float16: [Uint16Array, "f16"],
  int8: [Int8Array, "i8"],
  uint8: [Uint8Array, "u8"],
  int32: [Int32Array, "i32"],
  int64: [BigInt64Array, undefined],
} as const;

/** Returns the fixture of a case, and its tensors by name, in the order of the export. */
export function readGoldenFamily(
  data: string,
  name: string,
): { readonly fixture: GoldenFamily; readonly outputs: Record<string, TensorInput> } {
  const folder = join(data, "golden/families", name);
  const fixture = readJson(folder, "fixture.json") as GoldenFamily;
  const outputs = Object.fromEntries(
    fixture.outputs.map(({ name: output, file, dtype, shape, scale, zero_point: zeroPoint }) => {
      const [array, type] = ARRAYS[dtype];
      const tensor = {
        data: new array(readBytes(folder, file).buffer),
        dims: shape,
        ...(type && { type: type as TypeName }),
        ...(scale !== undefined && { scale }),
        ...(zeroPoint !== undefined && { zeroPoint }),
      };
      return [output, tensor as TensorInput] as const;
    }),
  );
  return { fixture, outputs };
}
