/** Columns make no garbage: what the heap gains over many frames, in a process whose young space is never collected. */
import { expect, test } from "vitest";
import { engines } from "../support/engines.ts";
import { printedBy } from "../support/garbage.ts";
import { repeats } from "../support/effort.ts";

const built = (file: string): string =>
  JSON.stringify(new URL(`../../dist/${file}.mjs`, import.meta.url).href);

/** Stretches that are measured at least and at most, and frames of one: 16 bytes a frame show in a few thousand. */
const STRETCHES = 2;
const MOST = 40;
const FRAMES = repeats(4000, 2000);

/**
 * A function that runs a frame often, and returns the bytes of heap that one gains. What a frame leaves it leaves in
 * each stretch, so the least counts: before the engine has compiled it all, fractions are objects. Node 24 and 26 take
 * five to eight stretches for that, Node 20 and 22 one.
 */
const measure = `
const measure = (frame) => {
  for (let i = 0; i < 4000; i++) frame();
  globalThis.gc();
  let least = Infinity;
  for (let stretch = 0; stretch < ${MOST} && (stretch < ${STRETCHES} || least >= 8); stretch++) {
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < ${FRAMES}; i++) frame();
    const gained = (process.memoryUsage().heapUsed - before) / ${FRAMES};
    // A stretch in which the heap was collected after all says nothing.
    if (gained > -16) least = Math.min(least, gained);
  }
  return least;
};
`;

/**
 * Returns a program that prints the garbage of a frame in bytes: arrays that are gathered, and tensors in their slots.
 */
const script = (engine: string, byPlan: boolean): string => `${measure}
import { createDecoderSync } from ${built("index")};
import { compilePlan } from ${built("node")};
import { loadPlanSync } from ${built("plan")};
const map = (w) => ({ data: new Float32Array(24 * w * w).fill(-3), dims: [1, 24, w, w] });
const outputs = { big: map(16), small: map(8) };
for (let cell = 3; cell < 256; cell += 41) for (let c = 0; c < 24; c++) outputs.big.data[c * 256 + cell] = 2;
const config = { family: "yolov3", classes: 3, inputSize: [128, 128], anchors: [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319] };
const options = { engine: "${engine}" };
const make = (given) => ${byPlan ? "loadPlanSync(compilePlan(config, { outputs, ...given }), options)" : "createDecoderSync(config, { ...options, ...given })"};
const decoder = make({});
// its tensors are written into the slots
const inSlots = make({ outputs });
// across classes suppression goes by strips, which are measured each frame
const across = make({ rules: { suppress: "all" } });
const sink = new Float64Array(1);
const add = (found) => { for (let i = 0; i < found.length; i++) sink[0] += found.boxes[4 * i] + found.scores[i]; };
const frozen = Object.freeze({ width: 640, height: 480, resize: "letterbox" });
const ways = {
  arrays: () => add(decoder.decode(outputs)),
  slots: () => add(inSlots.decode()),
  frame: () => add(inSlots.decode(undefined, frozen)),
  across: () => add(across.decode(outputs)),
};
const bytes = {};
for (const [name, frame] of Object.entries(ways)) {
  if (name === "slots") for (const n of Object.keys(outputs)) inSlots.slots[n].data.set(outputs[n].data);
  bytes[name] = measure(frame);
}
if (!(sink[0] > 0)) throw new Error("nothing was found");
console.log(JSON.stringify(bytes));
`;

test.each(engines.flatMap((engine) => [[engine, "config"] as const, [engine, "plan"] as const]))(
  "no garbage a frame, %s by a %s",
  (engine, by) => {
    const bytes = JSON.parse(printedBy(script(engine, by === "plan"))) as Record<string, number>;
    expect(Object.keys(bytes)).toEqual(["arrays", "slots", "frame", "across"]);
    // the least object has 16 bytes; compilers leave a little
    for (const [way, n] of Object.entries(bytes)) expect(n, way).toBeLessThan(16);
  },
);

/** The same of a network with keypoints: fused planes, with a frame and without, and raw maps. */
const poseScript = (engine: string): string => `${measure}
import { createDecoderSync } from ${built("index")};
const data = new Float32Array(56 * 84).fill(0.01);
for (let i = 0; i < 80; i += 16)
  for (let k = 0; k < 56; k++) data[k * 84 + i] = k < 2 ? 10 + i / 2 : k < 4 ? 8 : k === 4 ? 0.9 : (k - 5) % 3 === 2 ? 0.5 : k;
const filled = (channels, w, value) => ({ data: new Float32Array(channels * w * w).fill(value), dims: [1, channels, w, w] });
const maps = Object.fromEntries([8, 4, 2].flatMap((w) => [
  ["box" + w, filled(64, w, 0.3)],
  ["score" + w, filled(1, w, w === 4 ? 2 : -9)],
  ["points" + w, filled(51, w, 0.3)],
]));
const config = { family: "yolov8", task: "pose", classes: 1, keypoints: [17, 3], inputSize: [64, 64] };
const fused = createDecoderSync(config, { engine: "${engine}" });
const raw = createDecoderSync(config, { engine: "${engine}" });
const frozen = Object.freeze({ width: 640, height: 480, resize: "letterbox" });
const outputs = { output0: { data, dims: [1, 56, 84] } };
const ways = {
  fused: () => fused.decode(outputs),
  frame: () => fused.decode(outputs, frozen),
  maps: () => raw.decode(maps),
};
const bytes = {};
for (const [name, frame] of Object.entries(ways)) {
  if (!(frame().keypoints[0] >= 0)) throw new Error("no point was found");
  bytes[name] = measure(frame);
}
console.log(JSON.stringify(bytes));
`;

test.each(engines)("no garbage a frame with keypoints, %s", (engine) => {
  const bytes = JSON.parse(printedBy(poseScript(engine))) as Record<string, number>;
  expect(Object.keys(bytes)).toEqual(["fused", "frame", "maps"]);
  for (const [way, n] of Object.entries(bytes)) expect(n, way).toBeLessThan(16);
});

/** Prints how much memory decoders keep that nobody holds any more, once the young objects were collected. */
const forgotten = `
import { createDecoderSync } from ${built("index")};
const outputs = [{ name: "o", dims: [1, 84, 8400], type: "f32" }];
const options = { engine: "ts", outputs };
const make = () => void createDecoderSync({ family: "yolov8", classes: 80, inputSize: [640, 640] }, options);
// The first ones stay in what the compiler has learned.
for (let i = 0; i < 20; i++) make();
globalThis.gc();
const before = process.memoryUsage().arrayBuffers;
for (let i = 0; i < 4; i++) {
  make();
  for (let k = 0; k < 3; k++) globalThis.gc({ type: "minor" });
}
console.log(process.memoryUsage().arrayBuffers - before);
`;

test("a decoder that nobody holds goes with the young objects", () => {
  expect(Number(printedBy(forgotten))).toBeLessThan(2_000_000);
});
