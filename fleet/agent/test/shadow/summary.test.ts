/** The summary of a shadow: what it adds up, its bounds, and how it goes on after a restart. */
import { describe, expect, it } from "vitest";
import { MOST_SHADOW_BOXES, readShadowReport } from "boxwright-service/schema/shadow";
import { Summary, type ShadowFrame } from "../../src/shadow/summary.ts";

const NAMES = { rollout: "r1", version: "door:b", against: "door:a" };
const frameOf = (more: Partial<ShadowFrame> = {}): ShadowFrame => ({
  ...{ matched: 2, changed: 1, onlyOld: 1, onlyNew: 0, confidence: { old: 3.2, new: 1.5 }, memory: 5e7 },
  ...{ decode: { old: 1, new: 2 }, frame: { old: 10, new: 20 } },
  ...more,
});
const emptyFrame = frameOf({ matched: 0, changed: 0, onlyOld: 0, onlyNew: 0, confidence: { old: 0, new: 0 } });

describe("a summary", () => {
  it("adds up frames, and leaves the times of the first ones out", () => {
    const summary = new Summary(NAMES);
    expect(summary.report).toMatchObject({ ...NAMES, frames: 0, confidence: { old: null, new: null } });
    for (let i = 0; i < 5; i++) summary.add(frameOf({ decode: { old: 900, new: 900 } }));
    expect(summary.report.decode_ms).toEqual({ old: null, new: null });
    summary.add(frameOf());
    summary.add(frameOf({ decode: { old: 3, new: 4 }, frame: { old: 30, new: NaN } }));
    summary.add(emptyFrame);
    const report = readShadowReport(JSON.parse(JSON.stringify(summary.report)));
    expect(report).toMatchObject({ frames: 8, empty: 1, matched: 14, changed: 7, only_old: 7, only_new: 0 });
    expect(report.confidence.old).toBeCloseTo(3.2 / 4, 10);
    expect(report.confidence.new).toBeCloseTo(0.5, 10);
    expect(report.decode_ms.old).toBeCloseTo(5 / 3, 10);
    expect(report.frame_ms).toEqual({ old: 50 / 3, new: 20 });
    expect(report.memory.new).toBe(5e7);
  });

  it("goes on where an earlier start ended, and begins anew for another version", () => {
    const first = new Summary(NAMES);
    for (let i = 0; i < 8; i++) first.add(frameOf());
    const kept = JSON.stringify(first.report);
    const second = new Summary(NAMES, kept);
    for (let i = 0; i < 8; i++) second.add(frameOf({ decode: { old: 3, new: 2 }, confidence: { old: 1.6, new: 1.5 } }));
    expect(second.report).toMatchObject({ frames: 16, matched: 32 });
    expect(second.report.confidence.old).toBeCloseTo(0.6, 10);
    expect(new Summary({ ...NAMES, version: "door:c" }, kept).report.frames).toBe(0);
    for (const damaged of ["", "{", "null", kept.replace('"frames":8', '"frames":-8')])
      expect(new Summary(NAMES, damaged).report.frames).toBe(0);
  });

  it("stays within what the hub takes, and ends with a failure", () => {
    const summary = new Summary(NAMES);
    summary.add(frameOf({ matched: MOST_SHADOW_BOXES + 1 }));
    expect(summary.report.frames).toBe(0);
    summary.add(frameOf({ confidence: { old: 99, new: -3 } }));
    expect(summary.report.confidence).toEqual({ old: 1, new: 0 });
    summary.fail({ code: "crashed", message: "SIGSEGV" });
    summary.add(frameOf());
    expect(summary.isOver).toBe(true);
    expect(readShadowReport(JSON.parse(JSON.stringify(summary.report)))).toMatchObject({
      ...{ state: "failed", frames: 1, error: { code: "crashed", message: "SIGSEGV" } },
    });
    expect(new Summary(NAMES, JSON.stringify(summary.report)).isOver).toBe(true);
  });
});
