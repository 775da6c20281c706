/** Notes on frames whose picture lies elsewhere in the input than their resize says. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import { compilePlan } from "../../src/entries/node.ts";
import { loadPlanSync } from "../../src/entries/plan.ts";

const CONFIG = { family: "boxes", classes: 1, coordinates: "normalised", inputSize: [640, 640] } as const;
const WIDE = { width: 1280, height: 720, resize: "letterbox" } as const;

type Point = readonly [x: number, y: number];

/** Returns boxes around points of the picture. `place` maps a point to the input; both are in 0..1. */
function outputs(points: readonly Point[], place: (point: Point) => Point) {
  const boxes = points.flatMap((point) => {
    const [x, y] = place(point);
    return [x - 0.02, y - 0.02, x + 0.02, y + 0.02];
  });
  return {
    boxes: { data: Float32Array.from(boxes), dims: [1, points.length, 4] },
    scores: { data: new Float32Array(points.length).fill(0.8), dims: [1, points.length, 1] },
  };
}
/** Points all over the picture. */
const EVERYWHERE = Array.from({ length: 25 }, (_, i): Point => [
  0.1 + 0.2 * (i % 5),
  0.1 + 0.2 * Math.floor(i / 5),
]);
/** Points near the middle of the picture's height. */
const MIDDLE = EVERYWHERE.filter(([, y]) => y > 0.2 && y < 0.8);

const stretched = (point: Point): Point => point;
const letterboxed = ([x, y]: Point): Point => [x, 0.5 + (y - 0.5) * (720 / 1280)];
const topLeft = ([x, y]: Point): Point => [x, y * (720 / 1280)];

const DECODERS = {
  decoder: (onNote: (note: string) => void) => createDecoderSync(CONFIG, { onNote }),
  "plan file": (onNote: (note: string) => void) =>
    loadPlanSync(compilePlan(CONFIG, { outputs: specsOf(25) }), { onNote }),
};
const specsOf = (n: number) => [
  { name: "boxes", dims: [1, n, 4] },
  { name: "scores", dims: [1, n, 1] },
];

describe.each(Object.entries(DECODERS))("%s", (_, make) => {
  const notesOf = (place: (point: Point) => Point, frame: object = WIDE): string => {
    const notes: string[] = [];
    make((note) => notes.push(note)).decode(outputs(EVERYWHERE, place) as never, frame as never);
    return notes.join("\n");
  };
  test("a picture that was stretched", () => {
    expect(notesOf(stretched)).toMatch(
      /^10 of the first 25 candidates of a frame of 1280x720 are centred in the padding of its resize "letterbox": was the picture stretched \(resize: "stretch"\)/,
    );
  });
  test("a picture in the left upper corner", () => {
    expect(notesOf(topLeft)).toContain('in the left upper corner (resize: "letterbox-topleft")');
    expect(notesOf(letterboxed, { ...WIDE, resize: "letterbox-topleft" })).toContain(
      'in the middle (resize: "letterbox")',
    );
  });
  test("a letterbox is not told", () => {
    expect(notesOf(letterboxed)).toBe("");
    expect(notesOf(stretched, { ...WIDE, resize: "stretch" })).toBe("");
  });
  test("width and height exchanged", () => {
    const note = notesOf(letterboxed, { width: 720, height: 1280, resize: "letterbox" });
    expect(note).toMatch(/resize: "stretch".* Or are width and height exchanged \(1280x720\)\?$/s);
  });
});

test("few candidates in the padding, none with exchanged sides", () => {
  const notes: string[] = [];
  const decoder = createDecoderSync(CONFIG, { onNote: (note) => notes.push(note) });
  const many = [...MIDDLE, ...MIDDLE].map(([x, y]): Point => [0.5 + (x - 0.5) * 0.5, y]);
  const four = MIDDLE.slice(0, 4).map(([, y]): Point => [0.05, y]);
  decoder.decode(outputs([...many, ...four], letterboxed) as never, {
    width: 720,
    height: 1280,
    resize: "letterbox",
  });
  expect(notes.join()).toMatch(
    /^4 of the first 34 candidates are centred in the padding of a frame of 720x1280, and/,
  );
});
