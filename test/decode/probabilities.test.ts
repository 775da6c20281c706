/** How far outside 0..1 a probability may lie: one step of its element type. */
import { describe, expect, test } from "vitest";
import { TensorError, type TensorInput, createDecoderSync } from "../../src/entries/index.ts";
import { engines } from "../support/engines.ts";
import { toHalf } from "../support/seeded-networks.ts";

const config = { family: "boxes", classes: 1, coordinates: "normalised", roles: { boxes: "b", scores: "s" } };
const b = { data: Float32Array.of(0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1), dims: [1, 2, 4] };

describe.each(engines)("%s", (engine) => {
  /** Decodes two scores, of which the first is ordinary. */
  const decode = (s: Omit<TensorInput, "dims">): number =>
    createDecoderSync(config, { engine }).decode({ b, s: { ...s, dims: [1, 2, 1] } }).length;
  const f32 = (score: number): number => decode({ data: Float32Array.of(0.75, score) });
  const f16 = (score: number): number =>
    decode({ data: Uint16Array.of(toHalf(0.75), toHalf(score)), type: "f16" });
  /** An i8 in steps of 1/100, with the zero point in the middle. */
  const i8 = (score: number): number =>
    decode({ data: Int8Array.of(75, Math.round(score * 100)), type: "i8", scale: 0.01, zeroPoint: 0 });

  test.each([
    ["f32", f32, 1e-5, 1.1e-5],
    ["f16", f16, 2 ** -9, 2 ** -9 + 2 ** -10],
    ["i8", i8, 0.01, 0.02],
  ] as const)("%s", (_, one, allowed, refused) => {
    expect(one(1 + allowed * 0.99)).toBe(2);
    expect(one(-allowed)).toBe(1);
    for (const score of [1 + refused, -refused, -0.5]) {
      expect(() => one(score), String(score)).toThrow(TensorError);
      expect(() => one(score), String(score)).toThrow("expected probabilities in 0..1");
    }
  });
});
