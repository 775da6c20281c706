/** Rows that carry the function `mask` alone are drawn with their masks: a page adds ids to rows, and keeps masks. */
import { expect, test } from "vitest";
import { createDecoderSync, drawCanvas } from "../../src/entries/index.ts";
import { oneCell } from "../snippets/given.ts";

test("rows with the function mask of their result are filled", () => {
  const options = { family: "yolov8", classes: 1, inputSize: [64, 64], task: "segment" } as const;
  const decoder = createDecoderSync(options);
  const found = decoder.decode({
    output0: oneCell(37, 84, [32, 32, 20, 24, 0.9, 1]),
    output1: { data: new Float32Array(32 * 16 * 16).fill(3), dims: [1, 32, 16, 16] },
  });
  expect(decoder.config.task?.name).toBe("segment");
  const fills: unknown[] = [];
  const context = new Proxy({ canvas: { width: 64, height: 64 } } as Record<string, unknown>, {
    get: (own, name: string) => own[name] ?? ((rule: unknown) => void (name === "fill" && fills.push(rule))),
  });
  const mask: typeof found.mask = (i, more) => found.mask(i, more);
  const rows = found.toArray();
  drawCanvas(context as never, rows);
  expect(fills).not.toContain("evenodd");
  drawCanvas(context as never, Object.assign(rows, { mask }));
  expect(fills).toContain("evenodd");
});
