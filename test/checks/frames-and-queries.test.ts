/** Notes on a frame of one pixel, and on boxes of queries in another format. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import { compilePlan } from "../../src/entries/node.ts";
import { loadPlanSync } from "../../src/entries/plan.ts";

describe("a frame of one pixel", () => {
  const config = { family: "yolo26", classes: 2, inputSize: [320, 192] } as const;
  const output0 = { data: Float32Array.of(100, 80, 180, 140, 0.9, 1), dims: [1, 1, 6] };
  const notesOf = (width: number, height: number, resize: "letterbox" | "crop" | "stretch"): string[] => {
    const notes: string[] = [];
    const options = { onNote: (note: string) => notes.push(note) };
    createDecoderSync(config, options).decode({ output0 }, { width, height, resize });
    const file = compilePlan(config, { outputs: { output0: { dims: output0.dims } } });
    loadPlanSync(file, options).decode({ output0 }, { width, height, resize });
    return notes;
  };
  test("is told, by a plan file too", () => {
    const told = /^the frame is 1x1, .* pass the picture's width and height in pixels/;
    expect(notesOf(1, 1, "letterbox")).toEqual([expect.stringMatching(told), expect.stringMatching(told)]);
    expect(notesOf(1, 1, "crop")).toHaveLength(2);
  });
  test("is not told where no size counts, nor are other frames", () => {
    expect(notesOf(1, 1, "stretch")).toEqual([]);
    expect(notesOf(4, 3, "letterbox")).toEqual([]);
  });
});

describe("boxes of queries", () => {
  /** Returns the notes on 30 boxes, of which `least` lie beyond their own size. */
  const notesOf = (least: number): string => {
    const notes: string[] = [];
    const dets = { data: new Float32Array(120), dims: [1, 30, 4] };
    for (let i = 0; i < 30; i++) {
      const x = 0.1 + 0.02 * i;
      dets.data.set(i < least ? [0.9, 0.9, 0.1, 0.1] : [x, x, x + 0.1, x + 0.2], 4 * i);
    }
    const labels = { data: new Float32Array(60).fill(-4), dims: [1, 30, 2] };
    const decoder = createDecoderSync(
      { family: "rfdetr", classes: 2, inputSize: [64, 64] },
      { onNote: (note) => notes.push(note) },
    );
    decoder.decode({ dets, labels });
    return notes.join("\n");
  };
  test("that can all be corners are told", () => {
    expect(notesOf(0)).toMatch(/^all 30 boxes of .* say boxFormat: "xyxy"/);
  });
  test("of which one is narrower than its centre is far are centres", () => {
    expect(notesOf(1)).not.toContain("beyond their centre");
  });
});
