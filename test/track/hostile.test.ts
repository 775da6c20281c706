/** Times and boxes in another unit than a tracker counts in: it says so instead of giving other ids. */
import { describe, expect, test } from "vitest";
import { type TrackerOptions, createTracker } from "../../src/entries/track.ts";

const METHODS: readonly TrackerOptions[] = [
  { method: "sort" },
  { method: "bytetrack" },
  { method: "ocsort" },
];

const one = (...box: number[]) => ({ length: 1, boxes: box, scores: [0.9] });
const BOX = one(10, 10, 50, 90);

describe.each(METHODS)("%j", (options) => {
  test.each([
    ["30 frames a second in milliseconds", 1000 / 30],
    ["60 frames a second in milliseconds", 1000 / 60],
    ["30 frames a second in nanoseconds", 1e9 / 30],
  ])("%s", (_, step) => {
    const tracker = createTracker(options);
    for (let i = 0; i < 3; i++) tracker.update(BOX, i * step);
    const { tracks } = tracker;
    for (const time of [3 * step, 4 * step])
      expect(() => tracker.update(BOX, time)).toThrow(
        "seconds: got gaps of more than 10 s between all frames, the last of",
      );
    expect(tracker.tracks).toBe(tracks);
    // reset() begins anew, with other times.
    tracker.reset();
    for (let i = 0; i < 5; i++) tracker.update(BOX, i / 30);
    expect(tracker.update(BOX, 5 / 30)[0]).toBe(1);
  });

  test("slow frames that somebody means, and pauses", () => {
    const slow = createTracker({ ...options, maxLost: 3600 });
    for (let i = 0; i < 6; i++) slow.update(BOX, i * 60);
    const paused = createTracker(options);
    for (const time of [0, 100, 100.1, 200, 300, 400, 500]) paused.update(BOX, time);
    const perSecond = createTracker(options);
    for (let i = 0; i < 6; i++) perSecond.update(BOX, i);
    // A frame that is refused for its boxes counts no gap.
    const refused = createTracker(options);
    refused.update(BOX, 0);
    for (let i = 0; i < 5; i++) expect(() => refused.update(one(NaN, 0, 1, 1), 20)).toThrow("finite");
    refused.update(BOX, 20);
  });

  test("corner and size, or centre and size, in the place of corners", () => {
    const tracker = createTracker(options);
    for (let i = 0; i < 2; i++) tracker.update(one(100 + i, 100, 50, 90), i / 30);
    expect(() => tracker.update(one(102, 100, 50, 90), 2 / 30)).toThrow(
      "boxes: got 3 of 3 with x_max < x_min or y_max < y_min, expected corners",
    );
    // A network may give such a box now and then.
    const seldom = createTracker(options);
    for (let i = 0; i < 12; i++) seldom.update(i % 3 === 1 ? one(60, 10, 50, 90) : BOX, i / 30);
  });
});

test.each<readonly [TrackerOptions, string]>([
  [
    { method: "bytetrack", lowThreshold: 0.8, highThreshold: 0.5 },
    "lowThreshold: got 0.8 above highThreshold, 0.5",
  ],
  [
    { method: "bytetrack", highThreshold: 0.95 },
    "highThreshold: got 0.95, and no score is above it by 0.1, as a new track needs by default",
  ],
])("%j would find nothing", (options, message) => {
  expect(() => createTracker(options)).toThrow(message);
});

test("a high threshold with a newThreshold", () => {
  const tracker = createTracker({ method: "bytetrack", highThreshold: 0.95, newThreshold: 0.97 });
  expect(tracker.update({ ...BOX, scores: [0.99] }, 0)[0]).toBe(1);
});
