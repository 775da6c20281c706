import { expect } from "vitest";
import type { Decoder } from "../../src/decode/decoder.ts";
import type { PlanDescription } from "../../src/plan/describe.ts";

/** Returns the described plan of a decoder. Fails where the decoder has no plan yet. */
export function planJson(decoder: Decoder): PlanDescription {
  const { json } = decoder.describe();
  expect(json.kind).toBe("plan");
  return json as PlanDescription;
}
