/** Masks on pictures and in the command's results. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type CanvasContext, createDecoderSync, drawCanvas, drawSvg } from "../../../src/entries/index.ts";
import { boxwright } from "../../support/cli.ts";
import { png } from "../../support/pictures.ts";

const tensors = {
  // x1 y1 x2 y2 score class, and one coefficient; the better one stands second
  output0: { data: Float32Array.of(0, 0, 8, 8, 0.5, 0, 1, 4, 0, 16, 8, 0.9, 1, 1), dims: [1, 2, 7] },
  output1: { data: Float32Array.of(1, 1, -1, 1, 1, 1, 1, -1), dims: [1, 1, 2, 4] },
};
const decoder = createDecoderSync({
  family: "yolo26",
  inputSize: [16, 8],
  task: "segment",
  coordinates: "pixels",
});
const found = () => decoder.decode(tensors, { width: 16, height: 8, resize: "stretch" });

test("SVG: the rings of each mask in pixels of the photo, below the boxes, the best detection on top", () => {
  const svg = drawSvg(png(32, 16), found());
  const masks = [
    ...svg.matchAll(/<path d="(.*?)" fill="(#\w+)" fill-opacity="0.45" fill-rule="evenodd"\/>/g),
  ];
  expect(masks).toHaveLength(2);
  expect(svg.lastIndexOf("evenodd")).toBeLessThan(svg.indexOf("<rect"));
  const rings = found()
    .mask(0, { size: [32, 16] })
    .toPolygons()
    .flatMap(({ outer, holes }) => [outer, ...holes]);
  expect(masks[1][1]).toBe(rings.map((ring) => `M${ring.join(" ")}Z`).join(""));
  expect(masks[0][2]).not.toBe(masks[1][2]);
  // A clone, and detections without masks, have boxes alone.
  expect(drawSvg(png(32, 16), found().toArray())).not.toContain("evenodd");
});

test("a canvas fills the same rings", () => {
  const calls: string[] = [];
  const state: Record<string, unknown> = { canvas: { width: 32, height: 16 } };
  const context = new Proxy(state, {
    get: (_, name: string) => state[name] ?? ((...args: unknown[]) => calls.push(`${name} ${args.join()}`)),
  }) as unknown as CanvasContext;
  drawCanvas(context, found(), { tag: () => "" });
  expect(calls.filter((call) => call === "fill evenodd")).toHaveLength(2);
  const [first] = found()
    .mask(1, { size: [32, 16] })
    .toPolygons();
  const start = calls.indexOf(`moveTo ${first.outer.slice(0, 2).join()}`);
  expect(start).toBeGreaterThan(0);
  expect(calls[start + 1]).toBe(`lineTo ${first.outer.slice(2, 4).join()}`);
});

const folder = mkdtempSync(join(tmpdir(), "boxwright-masks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the command: masks as runs in JSON, and on the photo", async () => {
  const at = (name: string): string => join(folder, name);
  const outputs = Object.entries(tensors).map(([name, { data, dims }]) => {
    writeFileSync(at(`${name}.bin`), Buffer.from(data.buffer));
    return { name, file: `${name}.bin`, shape: dims, dtype: "float32" };
  });
  writeFileSync(at("meta.json"), JSON.stringify({ outputs }));
  writeFileSync(at("photo.png"), png(16, 8));
  const words = [
    ...[at("meta.json"), "--family", "yolo26", "--input-size", "16x8", "--task", "segment"],
    ...["--coordinates", "pixels", "--photo", at("photo.png"), "--resize", "stretch"],
  ];
  const { code, out, err } = await boxwright("decode", ...words, "--json", "--masks", "rle");
  expect([code, err]).toEqual([0, ""]);
  const { detections } = JSON.parse(out) as { detections: { mask: unknown }[] };
  expect(detections.map(({ mask }) => mask)).toEqual([0, 1].map((i) => found().mask(i).toRle()));
  const plain = await boxwright("decode", ...words, "--json");
  expect(plain.out).not.toContain("mask");
  expect((await boxwright("draw", ...words, "--out", at("out.svg"))).code).toBe(0);
  expect(readFileSync(at("out.svg"), "utf8").match(/evenodd/g)).toHaveLength(2);
  const boxes = [at("meta.json"), "--family", "yolo26", "--masks", "rle", "--only", "output0"];
  const none = await boxwright("decode", ...boxes, "--input-size", "16x8", "--coordinates", "pixels");
  expect(none.code).not.toBe(0);
});
