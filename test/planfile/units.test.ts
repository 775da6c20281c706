/** Boxes in another unit than a plan file was compiled for. */
import { expect, test } from "vitest";
import { compilePlan } from "../../src/entries/node.ts";
import { loadPlanSync } from "../../src/entries/plan.ts";
import { engines } from "../support/engines.ts";

const NETWORK = { family: "yolov8", classes: 2, inputSize: [64, 64] } as const;

/** Decodes a box by a plan for coordinates of a unit. */
function decode(coordinates: "pixels" | "normalised", box: readonly number[], engine = engines[0]) {
  const file = compilePlan({ ...NETWORK, coordinates }, { outputs: [{ name: "o", dims: [1, 6, 84] }] });
  const data = new Float32Array(6 * 84);
  [...box, 0, 0.75].forEach((value, channel) => (data[channel * 84 + 10] = value));
  return loadPlanSync(file, { engine }).decode({ o: { data, dims: [1, 6, 84] } });
}

test.each(engines)("are refused, with the option to compile with: %s", (engine) => {
  expect(() => decode("pixels", [0.5, 0.25, 0.3, 0.4], engine)).toThrow(
    'plan: got box coordinates up to 0.65, expected pixels of the input; if they are 0..1, compile the plan with coordinates: "normalised"',
  );
  expect(() => decode("normalised", [32, 16, 20, 24], engine)).toThrow(
    'plan: got box coordinates up to 42, expected 0..1; if they are pixels, compile the plan with coordinates: "pixels"',
  );
});

test("of the plan's unit pass, far over an edge too", () => {
  expect(decode("pixels", [32, 16, 20, 24]).at(0)?.x_min).toBeCloseTo(22 / 64);
  expect(decode("normalised", [0.5, 0.25, 2.5, 0.4]).length).toBe(1);
});
