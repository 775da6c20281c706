/** A stream keeps none of its images: what a process holds after many frames, each a new image of a megabyte. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const built = JSON.stringify(new URL("../../dist/index.mjs", import.meta.url).href);

/** Prints bytes of images held, and bytes of the heap gained for each frame. */
const script = (overlaps: boolean, signal: boolean): string => `
import { createDetector } from ${built};
const input = new Float32Array(3 * 32 * 32);
const output0 = { data: Float32Array.of(16, 16, 8, 8, 0.9), dims: [1, 1, 5] };
const session = {
  inputs: [{ name: "images", dims: [1, 3, 32, 32], type: "float32" }],
  overlaps: ${overlaps},
  createLane: () => ({ input: () => input, run: async () => ({ output0 }), release() {}, close() {} }),
  close() {},
};
const config = { family: "yolov8", labels: ["thing"], inputSize: [32, 32] };
const detector = await createDetector({ session, config });
async function* frames(count, size) {
  for (let i = 0; i < count; i++) yield { data: new Uint8Array(size * size * 4), width: size, height: size };
}
const options = ${signal ? "{ signal: new AbortController().signal }" : "{}"};
// Counts from the frame "first": before it the engine still compiles and collects feedback, which it keeps once.
async function held(first, count, size, key) {
  let frame = 0;
  let before = 0;
  for await (const found of detector.detectAll(frames(count, size), options)) {
    if (found.length !== 1) throw new Error("nothing was found");
    if (++frame !== first && frame !== count) continue;
    // What a turn of the event loop lets go, the next collection frees.
    for (let i = 0; i < 4; i++) {
      globalThis.gc();
      await new Promise(setImmediate);
    }
    const now = process.memoryUsage()[key];
    if (frame === count) return now - before;
    before = now;
  }
}
console.log(JSON.stringify({
  images: await held(100, 200, 512, "arrayBuffers"),
  heap: await held(3000, 9000, 8, "heapUsed") / 6000,
}));
`;

test.each([
  ["one after the other", false, false],
  ["one after the other, with a signal", false, true],
  ["overlapping", true, false],
  ["overlapping, with a signal", true, true],
])("%s", (_, overlaps, signal) => {
  // Collections that end on the one thread free the memory of arrays at once, however busy the machine is.
  const args = [
    "--expose-gc",
    "--single-threaded",
    "--input-type=module",
    "--eval",
    script(overlaps, signal),
  ];
  const said = execFileSync(process.execPath, args, { encoding: "utf8" });
  const { images, heap } = JSON.parse(said) as { images: number; heap: number };
  // A few images are under way. All of them would be 100 MB.
  expect(images).toBeLessThan(30e6);
  // A promise that stays takes 100 bytes and more.
  expect(heap).toBeLessThan(60);
});
