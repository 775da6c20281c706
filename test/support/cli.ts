/** Runs the command line in this process. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Detection } from "../../src/entries/index.ts";
import { run } from "../../src/node/cli/run.ts";
import { fixture } from "./files.ts";

/** Exit code and output of a command. */
export interface Ran {
  readonly code: number;
  /** Everything written to standard output; bytes are left out. */
  readonly out: string;
  readonly err: string;
  /** Everything written to standard output, one entry for each write. */
  readonly chunks: readonly (string | Uint8Array)[];
}

export async function boxwright(...argv: readonly string[]): Promise<Ran> {
  const chunks: (string | Uint8Array)[] = [];
  let err = "";
  const code = await run(argv, { out: (t) => void chunks.push(t), err: (t) => void (err += t) });
  return { code, out: chunks.filter((c) => typeof c === "string").join(""), err, chunks };
}

/** Runs a command that refuses its input: exit code 1, one message without a stack. Returns the message. */
export async function refused(...argv: readonly string[]): Promise<string> {
  const { code, out, err } = await boxwright(...argv);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(/^boxwright: /);
  expect(err).not.toMatch(/^ {4}at /m);
  return err;
}

/** Words that decode the recorded tensors of YOLO-Fastest as OpenCV does. */
export const yolo = (photo: string): string[] => [
  fixture("yolo-fastest-1.1/config.json"),
  fixture(`yolo-fastest-1.1/${photo}/meta.json`),
  "--scores",
  "logits",
  "--rules",
  "opencv",
];

/** Words that decode the recorded tensor of MobileNet-SSD. */
export const ssd = (photo: string): string[] => [
  fixture("mobilenet-ssd/config.json"),
  fixture(`mobilenet-ssd/${photo}/meta.json`),
];

/** Returns the detections that OpenCV found. */
export const expectedDetections = (network: string, photo: string): Detection[] =>
  (
    JSON.parse(readFileSync(fixture(`${network}/${photo}/expected.json`), "utf8")) as {
      detections: Detection[];
    }
  ).detections;

/** Parses what `decode --json` printed. */
export const printedJson = (out: string): { output_format: string; detections: Detection[] } =>
  JSON.parse(out) as { output_format: string; detections: Detection[] };

/** Expects the same detections in any order, to four decimals. */
export function expectSame(got: readonly Detection[], want: readonly Detection[]): void {
  const sorted = (list: readonly Detection[]) => [...list].sort((a, b) => b.confidence - a.confidence);
  expect(got).toHaveLength(want.length);
  sorted(got).forEach((d, i) => {
    const w = sorted(want)[i];
    expect(d.class_id).toBe(w.class_id);
    for (const key of ["confidence", "x_min", "y_min", "x_max", "y_max"] as const)
      expect(d[key]).toBeCloseTo(w[key], 4);
  });
}
