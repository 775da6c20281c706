/** Oriented boxes of whole networks against formulas in doubles: every export, every suppression. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DecoderOptions } from "../../src/config/types.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Detections } from "../../src/decode/detections.ts";
import { toPixels } from "../../src/decode/pixels.ts";
import { engines } from "../support/engines.ts";
import { type StoredOutput, fixtures, readJson, readTensors } from "../support/shared-data.ts";

interface Fixture {
  readonly outputs: readonly StoredOutput[];
  readonly detections: readonly {
    readonly row: number;
    readonly class_id: number;
    readonly confidence: number;
    readonly cx: number;
    readonly cy: number;
    readonly w: number;
    readonly h: number;
    readonly angle: number;
    readonly raw_angle: number;
    readonly corners: readonly (readonly [number, number])[];
  }[];
  readonly probiou_fast_rows?: readonly number[];
}

/** Width and height of the networks' input. */
const SIZE = [192, 128] as const;

const read = (name: string) => {
  const folder = join(fixtures, "beyond", "heads", name);
  const fixture = readJson(folder, "fixture.json") as Fixture;
  const tensors = readTensors(folder, fixture.outputs);
  return { ...fixture, tensors };
};

const v8 = read("obb_v8");
const e26 = read("obb_26");

/** Expects every number of the answers, in pixels. `raw`: angles as the network gives them. */
function expectDetections(found: Detections, expected: Fixture["detections"], raw: boolean): void {
  expect([...found.sources.subarray(0, found.length)]).toEqual(expected.map(({ row }) => row));
  const near = (got: number | undefined, wanted: number, within: number): void =>
    expect(Math.abs((got ?? NaN) - wanted), `${got} for ${wanted}`).toBeLessThanOrEqual(within);
  expected.forEach((e, i) => {
    const d = found.at(i);
    if (!d) throw new Error(`detection ${i} is missing`);
    const p = toPixels(d, ...SIZE);
    expect(d.class_id).toBe(e.class_id);
    near(d.confidence, e.confidence, 2e-6);
    // Lengths as far as f32 corners hold them.
    near(p.cx, e.cx, 1e-4);
    near(p.cy, e.cy, 1e-4);
    const swaps = raw && Math.abs(Math.sin(e.raw_angle - e.angle)) > 0.5;
    near(p.width, swaps ? e.h : e.w, 1e-4);
    near(p.height, swaps ? e.w : e.h, 1e-4);
    near(d.angle, raw ? e.raw_angle : e.angle, 1e-6);
    // The answers' corners begin with the raw box. Those of an equal box, a quarter turned, begin elsewhere.
    const turned = !raw && Math.abs(Math.sin(e.raw_angle - e.angle)) > 0.5 ? [1, 3] : [0, 2];
    const from =
      [0, 1, 2, 3].find((k) => Math.abs((p.corners?.[0].x ?? NaN) - e.corners[k][0]) < 1e-4) ?? NaN;
    expect(turned).toContain(from);
    p.corners?.forEach(({ x, y }, k) => {
      near(x, e.corners[(from + k) % 4][0], 1e-4);
      near(y, e.corners[(from + k) % 4][1], 1e-4);
    });
    near(p.x_min, Math.min(...e.corners.map(([x]) => x)), 1e-4);
    near(p.y_max, Math.max(...e.corners.map(([, y]) => y)), 1e-4);
  });
}

const { output0, output0_normalised: normalised, ...maps } = v8.tensors;
const BASE = {
  family: "yolov8",
  classes: 4,
  task: "oriented",
  inputSize: SIZE,
  confidenceThreshold: 0.26,
} as const;
const EXPORTS: readonly (readonly [string, Outputs, DecoderOptions])[] = [
  ["fused planes", { output0 }, {}],
  [
    "fused planes, normalised by a width and a height that differ",
    { output0: normalised },
    { coordinates: "normalised" },
  ],
  ["fused rows", { output0: transposed(output0) }, {}],
  ["raw maps", maps, {}],
  ["raw maps, named", maps, { roles: { angles: ["angle3", "angle4", "angle5"] } }],
];

function transposed({ data, dims: [, k, n] }: { data: Float32Array; dims: readonly number[] }) {
  return { data: Float32Array.from(data, (_, i) => data[(i % k) * n + Math.floor(i / k)]), dims: [1, n, k] };
}

describe.each(engines)("%s", (engine) => {
  const decode = (outputs: Outputs, options: DecoderOptions): Detections =>
    createDecoderSync(BASE, { engine, ...options }).decode(outputs);

  test.each(EXPORTS)("YOLOv8, %s", (_, outputs, options) => {
    const polygons = decode(outputs, { ...options, orientedSuppression: "opencv" });
    expect(polygons.length).toBe(18);
    expectDetections(polygons, v8.detections, false);
    const raw = decode(outputs, { ...options, orientedSuppression: "opencv", angleRange: "raw" });
    expectDetections(raw, v8.detections, true);
    // Ultralytics' own suppression keeps fewer.
    const fast = decode(outputs, options);
    expect([...fast.sources.subarray(0, fast.length)]).toEqual(v8.probiou_fast_rows);
  });

  test("YOLO26, a list of detections", () => {
    const found = decode(e26.tensors, { family: "yolo26" });
    expect(found.length).toBe(63);
    expectDetections(found, e26.detections, false);
    expectDetections(decode(e26.tensors, { family: "yolo26", angleRange: "raw" }), e26.detections, true);
  });
});

test("the engines agree in every bit", () => {
  const answers = engines.map((engine) => {
    const found = createDecoderSync(BASE, { engine }).decode(maps).copy();
    return [found.angles, found.corners, found.boxes, found.scores, found.sources];
  });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});
