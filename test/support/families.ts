/** Reads the golden cases of more networks: synthetic tensors with answers by the authors' formulas in float64. */
import { join } from "node:path";
import type { TensorInput } from "../../src/core/tensor.ts";
import { readBytes, readJson } from "./shared-data.ts";

interface Output {
  readonly name: string;
  readonly file: string;
  readonly dtype: "float32" | "float16";
  readonly shape: readonly number[];
}

export type Points = readonly (readonly number[])[];

/** The fields of a case of points or landmarks. */
export interface FamilyCase {
  readonly input: { readonly width: number; readonly height: number };
  readonly outputs: readonly Output[];
  readonly crop: {
    readonly photo: readonly [number, number];
    readonly box: readonly [number, number, number, number];
    readonly centre: readonly [number, number];
    readonly scale: readonly [number, number];
  };
  readonly roi_from: {
    readonly photo: readonly [number, number];
    readonly box?: readonly [number, number, number, number];
    readonly point0: readonly [number, number];
    readonly point1: readonly [number, number];
  };
  readonly roi: {
    readonly centre: readonly [number, number];
    readonly side: number;
    readonly rotation: number;
  };
  readonly presence: number;
  readonly points: Points & { readonly [rule: string]: Points };
  readonly points_in_photo: Points & { readonly [rule: string]: Points };
  readonly refined: Points;
  readonly refined_in_photo: Points;
}

/** Returns a case and its tensors. `folder` is that of all families. */
export function readFamily(
  folder: string,
  name: string,
): FamilyCase & { readonly tensors: Record<string, TensorInput> } {
  const fixture = readJson(folder, name, "fixture.json") as FamilyCase;
  const tensors = Object.fromEntries(
    fixture.outputs.map(({ name: output, file, dtype, shape }) => {
      const { buffer } = readBytes(join(folder, name), file);
      const data = dtype === "float16" ? new Uint16Array(buffer) : new Float32Array(buffer);
      return [output, { data, dims: shape, type: dtype }];
    }),
  );
  return { ...fixture, tensors };
}
