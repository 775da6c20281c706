/** The conformance set for any decoder: its files, its runner, and boxwright held against it. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { open } from "../../conformance/decoders/boxwright.mjs";
import { type SetDetection, compare, loadSet, runSet } from "../../conformance/run.mjs";
import { type Results, mistake, tablesOf, withTables } from "../../conformance/tables.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, "conformance");
const set = loadSet();
const BYTES = { f32: 4, f16: 2, i8: 1, u8: 1, i32: 4, i64: 8 };

interface TensorFile {
  readonly file: string;
  readonly type: keyof typeof BYTES;
  readonly dims: readonly number[];
  readonly sha256: string;
}

describe("files", () => {
  const stated = JSON.parse(readFileSync(join(folder, "set.json"), "utf8")) as {
    cases: { id: string; tensors: TensorFile[] }[];
  };
  const files = stated.cases.flatMap(({ tensors }) => tensors);

  test("tensors have the values and sizes that the set states, and no file is left over", () => {
    for (const { file, type, dims, sha256 } of files) {
      const bytes = gunzipSync(readFileSync(join(folder, file)));
      expect(bytes.length, file).toBe(dims.reduce((a, b) => a * b, BYTES[type]));
      expect(createHash("sha256").update(bytes).digest("hex"), file).toBe(sha256);
    }
    const names = readdirSync(join(folder, "tensors")).map((name) => `tensors/${name}`);
    expect(names.sort()).toEqual(files.map(({ file }) => file).sort());
  });

  test("the folder stays below 2 MB", () => {
    const sizes = readdirSync(folder, { recursive: true, encoding: "utf8" }).map(
      (name) => statSync(join(folder, name)).size,
    );
    expect(sizes.reduce((a, b) => a + b)).toBeLessThan(2e6);
  });

  test("each answer has a source from outside, and finds something inside the input's reach", () => {
    expect(new Set(set.cases.map((c) => c.id)).size).toBe(set.cases.length);
    for (const { id, answers } of set.cases)
      for (const { source, detections } of answers) {
        expect(source, id).toMatch(/ONNX Runtime|formulas|depthai|rows above the threshold/);
        expect(source).not.toMatch(/boxwright/i);
        expect(detections.length, id).toBeGreaterThan(0);
        for (const d of detections) expect(d.x_min < d.x_max && d.y_min < d.y_max, id).toBe(true);
      }
  });
});

describe("boxwright", async () => {
  const decoder = await open();
  const outcomes = await runSet(decoder, set);

  test.each(set.cases.map((c) => c.id))("%s", (id) => {
    expect(outcomes[id]).toMatchObject({ outcome: "right" });
  });

  test("no decision of the set hangs on a threshold's last digits", async () => {
    for (const c of set.cases)
      for (const [confidence, iou] of [
        [-5e-4, 0],
        [5e-4, 0],
        [0, -5e-4],
        [0, 5e-4],
      ]) {
        const moved = {
          ...c,
          confidence: c.confidence + confidence,
          ...(c.iou !== undefined && { iou: c.iou + iou }),
        };
        const [outcome] = Object.values(await runSet(decoder, { ...set, cases: [moved] }));
        expect(outcome, `${c.id} at ${confidence}, ${iou}`).toMatchObject({ outcome: "right" });
      }
  });
});

describe("compare", () => {
  const [{ detections }] = set.cases[0].answers;
  const [first, ...others] = detections;
  const same = { missing: 0, extra: 0, box: 0, score: 0 };
  const moved = (by: Partial<SetDetection>): SetDetection[] => [{ ...first, ...by }, ...others];

  test("takes the same detections in any order", () => {
    expect(compare([...detections].reverse(), detections)).toEqual(same);
  });

  test("counts what is missing, too many, or of another class", () => {
    expect(compare(others, detections)).toEqual({ ...same, missing: 1 });
    expect(compare([...detections, first], detections)).toEqual({ ...same, extra: 1 });
    expect(compare(moved({ class_id: 99 }), detections)).toEqual({ ...same, missing: 1, extra: 1 });
  });

  test("measures corners and scores, and what is no number is wrong", () => {
    expect(compare(moved({ x_max: first.x_max + 0.01 }), detections).box).toBeCloseTo(0.01);
    expect(compare(moved({ confidence: first.confidence - 0.2 }), detections).score).toBeCloseTo(0.2);
    expect(compare(moved({ x_min: NaN }), detections)).toMatchObject({ missing: 1, extra: 1 });
    expect(compare([{ ...first, confidence: NaN }], [first])).toEqual({ ...same, score: 1 });
  });

  test("clamps, as decoders differ on it, and compares points", () => {
    const wide = { ...first, x_min: -0.2 };
    expect(compare([{ ...first, x_min: 0 }], [wide])).toEqual(same);
    const points = { ...first, keypoints: [[0.5, 0.5, 1]] };
    expect(compare([{ ...first, keypoints: [[0.5, 0.52]] }], [points]).box).toBeCloseTo(0.02);
    expect(compare([first], [points])).toMatchObject({ missing: 1, extra: 1 });
  });
});

describe("answers in a file", () => {
  const run = (answers: object): { status: number | null; stdout: string } => {
    const file = join(mkdtempSync(join(tmpdir(), "set-")), "answers.json");
    writeFileSync(file, JSON.stringify(answers));
    return spawnSync(process.execPath, [join(folder, "run.mjs"), file], { encoding: "utf8" });
  };
  const answersOf = (place: number): Record<string, readonly SetDetection[]> =>
    Object.fromEntries(set.cases.map((c) => [c.id, (c.answers[place] ?? c.answers[0]).detections]));

  test("any of a case's rules is right", () => {
    for (const place of [0, 1]) {
      const { status, stdout } = run(answersOf(place));
      expect(stdout).toContain(`${set.cases.length} right, 0 wrong, 0 refused, 0 not read`);
      expect(status).toBe(0);
    }
  });

  test("a wrong answer fails by name and amount, and one that is missing is not read", () => {
    const answers = answersOf(0);
    const moved = answers["yolov8-planes"].map((d) => ({ ...d, x_max: d.x_max + 0.03 }));
    const { status, stdout } = run({ ...answers, "yolov8-planes": moved, detr: undefined });
    expect(stdout).toMatch(/^yolov8-planes +wrong .*"box":0\.03/m);
    expect(stdout).toMatch(/^detr +not read/m);
    expect(stdout).toContain("1 wrong, 0 refused, 1 not read");
    expect(status).toBe(1);
  });
});

describe("the published tables", () => {
  const results = JSON.parse(readFileSync(join(folder, "results.json"), "utf8")) as Results;

  test("the page has those of results.json, for this version of the set", () => {
    const page = readFileSync(join(root, "docs/conformance.md"), "utf8");
    expect(page).toBe(withTables(page, tablesOf(set, results)));
    expect(results.set).toBe(set.version);
    for (const { name, outcomes } of results.decoders)
      expect(Object.keys(outcomes), name).toEqual(set.cases.map((c) => c.id));
  });

  test("mistakes are told by amount", () => {
    const wrong = { outcome: "wrong", rules: "none", missing: 2, extra: 0, box: 0.0312, score: 0 } as const;
    expect(mistake(wrong, 1e-4)).toBe("2 missing, boxes up to 3.1 % of the input away");
    expect(mistake({ outcome: "refused", message: "a|b" }, 1e-4)).toBe("refused: a\\|b");
  });
});
