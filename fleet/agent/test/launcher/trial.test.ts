import { describe, expect, it } from "vitest";
import { judge, type Told } from "../../src/launcher/trial.ts";

const RULES = { healthy: 600_000, expectsFrames: true };
const WELL: Told = { beats: 20, sinceBeat: 10_000, frames: 100, isPaused: false };

describe("the judge of a version on trial", () => {
  it("keeps a healthy one, but not before its time", () => {
    expect(judge(WELL, 599_999, RULES)).toEqual({ kind: "wait" });
    expect(judge(WELL, 600_000, RULES)).toEqual({ kind: "keep" });
    expect(judge({ ...WELL, frames: 0, isPaused: true }, 600_000, RULES)).toEqual({ kind: "keep" });
    expect(judge({ ...WELL, frames: 0 }, 600_000, { ...RULES, expectsFrames: false })).toEqual({ kind: "keep" });
  });

  it.each([
    ["silent", null],
    ["no_heartbeat", { ...WELL, beats: 1 }],
    ["no_heartbeat", { ...WELL, sinceBeat: 100_001 }],
    ["no_frames", { ...WELL, frames: 0 }],
  ])("waits three times as long for one that is %s, then fails it", (code, told) => {
    expect(judge(told, 1_799_999, RULES)).toEqual({ kind: "wait" });
    expect(judge(told, 1_800_000, RULES)).toMatchObject({ kind: "fail", code });
  });
});
