/** Trackers make no garbage: what the heap gains over many frames, in a process that never collects its young space. */
import { expect, test } from "vitest";
import { printedBy } from "../support/garbage.ts";

const entry = JSON.stringify(new URL("../../dist/index.mjs", import.meta.url).href);

/** Prints the garbage of a frame in bytes: objects in rows that turn in circles, some of them missing now and then. */
const script = (method: string): string => `
import { createTracker } from ${entry};
const frames = Array.from({ length: 32 }, (_, f) => {
  const boxes = [], scores = [];
  for (let o = 0; o < 20; o++) {
    if ((o + f) % 11 === 0) continue;
    const x = 100 * (o % 5) + 20 * Math.cos((2 * Math.PI * f) / 32 + o), y = 90 * (o >> 2) + 3 * (f % 3);
    boxes.push(x, y, x + 70 + o, y + 80);
    scores.push((o + f) % 7 === 0 ? 0.3 : 0.9);
  }
  return { length: scores.length, boxes: Float32Array.from(boxes), scores: Float32Array.from(scores) };
});
const tracker = createTracker({ method: "${method}", ...(${method === "ocsort"} ? { useLowScores: true } : {}) });
const sink = new Float64Array(1);
let count = 0;
const seconds = new Float64Array(1);
const frame = () => {
  seconds[0] = ++count / 30;
  const ids = tracker.update(frames[count % 32], seconds[0]);
  sink[0] += ids[0] + ids.length;
};
for (let i = 0; i < 6000; i++) frame();
globalThis.gc();
const gained = Array.from({ length: 8 }, () => {
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 4000; i++) frame();
  return (process.memoryUsage().heapUsed - before) / 4000;
});
if (!(sink[0] > 0)) throw new Error("nothing was found");
console.log(Math.min(...gained.filter((n) => n > -16)));
`;

test.each(["sort", "bytetrack", "ocsort"])("%s", (method) => {
  // A few heap numbers, such as the time that is handed over; no array, view or object by detection or track.
  expect(Number(printedBy(script(method)))).toBeLessThan(100);
});
