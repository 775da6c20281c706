/** Gates of a roll-out: what a person may give, and when a step opens or stops. */
import { describe, expect, it } from "vitest";
import { hasWaited, isOverError, isSuccess, nextStep, readGates, type Gates } from "../../src/nouns/gates.ts";

const STEPS = [1, 10, 50, 100];

describe("gates", () => {
  it("have usual numbers beside the steps", () => {
    expect(readGates({})).toBeUndefined();
    expect(readGates({ steps: STEPS })).toEqual({
      ...{ steps: STEPS, success_percent: 90, error_percent: 5, wait_minutes: 60 },
    });
    expect(readGates({ steps: [100], successPercent: 99, errorPercent: 1, waitMinutes: 0 })).toEqual({
      ...{ steps: [100], success_percent: 99, error_percent: 1, wait_minutes: 0 },
    });
  });

  it("are refused if they could not work", () => {
    for (const steps of [[], [0], [101], [1.5], [NaN], [10, 10], [10, 5], Array.from({ length: 21 }, (_, i) => i + 1)])
      expect(() => readGates({ steps }), JSON.stringify(steps)).toThrow("ascending whole numbers");
    for (const wrong of [{ successPercent: 0 }, { successPercent: 100 }, { errorPercent: 0 }, { waitMinutes: -1 }])
      expect(() => readGates({ steps: STEPS, ...wrong })).toThrow("expected a whole number from");
    expect(() => readGates({ steps: STEPS, successPercent: 96 })).toThrow("got 96 and 5, expected at most 100 in all");
    expect(() => readGates({ waitMinutes: 5 })).toThrow("waitMinutes: got it without steps");
  });

  const gates: Gates = { steps: STEPS, success_percent: 90, error_percent: 5, wait_minutes: 10 };

  it("stop at the per cent of failures, and not before the failure limit", () => {
    const stops = (failed: number, devices: number): boolean =>
      isOverError(gates, 3, { devices, applied: devices - failed, failed });
    expect([stops(1, 1), stops(2, 2), stops(3, 3)]).toEqual([false, false, true]);
    expect([stops(4, 100), stops(5, 100)]).toEqual([false, true]);
    expect([stops(0, 0), stops(499, 10_000), stops(500, 10_000)]).toEqual([false, false, true]);
  });

  it("open at the per cent of success; failures below the limit hold nothing up, missing devices do", () => {
    const opens = (applied: number, failed: number, devices: number): boolean =>
      isSuccess(gates, 3, { devices, applied, failed });
    expect([opens(0, 0, 0), opens(0, 1, 1), opens(0, 2, 2), opens(0, 0, 1)]).toEqual([true, true, true, false]);
    expect([opens(89, 0, 100), opens(90, 0, 100), opens(89, 2, 100)]).toEqual([false, true, true]);
    expect([opens(89, 4, 100), opens(90, 4, 100)]).toEqual([false, true]);
  });

  it("open or stop once all devices have reported, whatever they reported", () => {
    for (const success_percent of [1, 60, 95])
      for (const error_percent of [1, 5].filter((percent) => percent + success_percent <= 100))
        for (const limit of [1, 3, 20])
          for (const devices of [1, 7, 40, 100])
            for (let failed = 0; failed <= devices; failed++) {
              const own = { ...gates, success_percent, error_percent };
              const count = { devices, failed, applied: devices - failed };
              expect(isOverError(own, limit, count) || isSuccess(own, limit, count)).toBe(true);
            }
  });

  it("wait for each step, and do not believe a step of the future", () => {
    const minute = 60_000;
    const waited = (openedAt: number): boolean => hasWaited(gates, openedAt, 100 * minute);
    expect([waited(91 * minute), waited(90 * minute), waited(101 * minute), waited(200 * minute)]).toEqual([
      ...[false, true, false, true],
    ]);
    expect([0, 1, 60, 100].map((share) => nextStep(gates, share))).toEqual([1, 10, 100, undefined]);
  });
});
