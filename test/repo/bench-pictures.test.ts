/** Rows of the benchmark that start from a picture: which answers are right, and what a row without its peer says. */
import { describe, expect, test } from "vitest";
import { frameWorkload, pictureBoxes, placeOf, toPicture } from "../../bench/pictures/frame.ts";
import { areSameBoxes, hasRow, PICTURE_ENGINES, PICTURES } from "../../bench/pictures/picture.ts";
import { pictureFault, pictureTable, type PictureReport, type PictureRow } from "../../bench/pictures/run.ts";
import { prepare } from "../../bench/peers/usual-js.ts";
import { define } from "../../bench/definition.ts";

const frame = PICTURES.find(({ name }) => name === "frame")!;
const [letterbox] = PICTURES;
const timing = { median: 10, min: 9, p90: 12, runs: 100 };
const truth = [
  [3, 0.9, 10, 20, 30, 40],
  [5, 0.8, 600, 320, 680, 400],
];
const report = (row: PictureRow): PictureReport => ({ ...frame, truth, rows: [row] });
const rowOf = (engine: PictureRow["engine"], boxes: number[][]): PictureRow => ({
  engine,
  status: "ok",
  timing,
  boxes,
});

describe("boxes", () => {
  test("are the same in another order, and a little beside", () => {
    const near = [
      [5, 0.8 + 1e-7, 600.05, 320, 680, 400],
      [3, 0.9, 10, 20, 30, 39.95],
    ];
    expect(areSameBoxes(near, truth)).toBe(true);
  });

  test.each([
    ["one is missing", truth.slice(1)],
    ["another class", [truth[0], [6, ...truth[1].slice(1)]]],
    ["another score", [truth[0], [5, 0.8001, ...truth[1].slice(2)]]],
    ["another corner", [truth[0], [5, 0.8, 600, 320.2, 680, 400]]],
    ["no number", [truth[0], [5, 0.8, NaN, 320, 680, 400]]],
  ])("are not: %s", (_, found) => expect(areSameBoxes(found, truth)).toBe(false));

  test("of the input lie in the picture as the letterbox placed it", () => {
    expect(placeOf(frame)).toEqual({ scale: 0.5, left: 0, top: 140 });
    expect(toPicture(frame, [0.5, 0.5, 1, 1])).toEqual([640, 360, 1280, 720]);
    expect(toPicture(frame, [0.25, 140 / 640, 0.5, 0])).toEqual([320, 0, 640, 0]);
  });

  test("of the usual JavaScript are those of the definition", () => {
    const workload = frameWorkload();
    const decoder = prepare(workload);
    void decoder.run();
    const expected = pictureBoxes(frame, define(workload));
    expect(expected).toHaveLength(34);
    expect(areSameBoxes(pictureBoxes(frame, decoder.answer()), expected)).toBe(true);
  });
});

describe("a row", () => {
  test("of ours with other boxes is at fault, a peer's is told", () => {
    const ours = rowOf("chromium", truth.slice(1));
    expect(pictureFault(ours, report(ours))).toBe("MISMATCH: 1 boxes, expected 2");
    const theirs = rowOf("ultralytics", truth.slice(1));
    expect(pictureFault(theirs, report(theirs))).toBeUndefined();
    expect(pictureTable(report(theirs)).join("\n")).toContain("other boxes, 1");
    expect(pictureTable(report(rowOf("ultralytics", truth))).join("\n")).toContain("as defined, 2");
  });

  test("without its peer says so, and is no fault", () => {
    const row: PictureRow = { engine: "sharp", status: "missing", reason: "sharp@0 cannot be installed" };
    const shown = { ...letterbox, rows: [row] };
    expect(pictureFault(row, shown)).toBeUndefined();
    expect(pictureTable(shown).join("\n")).toContain("missing: sharp@0 cannot be installed");
  });

  test("with another tensor is at fault, if it has to be byte-equal", () => {
    const row = (engine: PictureRow["engine"]): PictureRow => ({ engine, status: "ok", timing, digest: "0" });
    const faults = PICTURE_ENGINES.filter((engine) => pictureFault(row(engine), { ...letterbox, rows: [] }));
    expect(faults).toEqual(["simd", "scalar", "ts", "opencv", "chromium", "chromium-canvas"]);
  });

  test("of what prepares only is not in a whole frame", () => {
    expect(PICTURE_ENGINES.filter((engine) => !hasRow(frame, engine))).toEqual(["sharp", "js-nearest"]);
    expect(PICTURE_ENGINES.every((engine) => hasRow(letterbox, engine))).toBe(true);
  });
});
