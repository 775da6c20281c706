/** The ways to see channels in a tensor, and the maps that an input has. */
import { describe, expect, test } from "vitest";
import type { StorageOrder } from "../../src/core/tensor.ts";
import { specOf } from "../../src/core/tensor.ts";
import { type Views, beside, fiveDims, maps, move, rows, rowsOrFlat } from "../../src/heads/channels.ts";
import { cellsAcross, gridsOf, gridsOfRows } from "../../src/shapes/grids.ts";

/** Returns layout, cells and steps of every view: "NCHW 169 169/1". */
const seen = (views: Views, dims: number[], k: number, order?: StorageOrder): string[] =>
  views(specOf("t", { dims, ...(order && { order }) }), k).map(
    (v) => `${v.layout} ${v.cells} ${v.channel}/${v.cell}${v.w ? ` ${v.w}x${v.h}` : ""}`,
  );

describe("maps", () => {
  test.each<[number[], number, StorageOrder | undefined, string[]]>([
    [[1, 255, 13, 26], 255, undefined, ["NCHW 338 338/1 26x13"]],
    [[1, 13, 26, 255], 255, undefined, ["NHWC 338 1/255 26x13"]],
    [[7, 13, 26], 7, undefined, ["CHW 338 338/1 26x13"]],
    // as many channels as cells: both, unless the order is stated
    [[1, 8, 8, 8], 8, undefined, ["NCHW 64 64/1 8x8", "NHWC 64 1/8 8x8"]],
    [[1, 8, 8, 8], 8, "NHWC", ["NHWC 64 1/8 8x8"]],
    [[1, 8, 8, 8], 8, "rows", []],
    // rows with a batch of 1 are no map one cell high
    [[1, 8400, 84], 84, undefined, []],
    [[1, 85, 13, 13], 84, undefined, []],
  ])("%j with %i channels, order %s", (dims, k, order, expected) => {
    expect(seen(maps, dims, k, order)).toEqual(expected);
  });

  test("rows of anchors, outermost or in each cell", () => {
    expect(seen(fiveDims, [1, 3, 20, 20, 85], 85)).toEqual(["NAhwK 400 1/85 20x20", "NhwAK 60 1/1700 20x3"]);
    expect(seen(fiveDims, [1, 3, 85, 10, 20], 85)).toEqual(["NAKhw 200 200/1 20x10"]);
    expect(seen(fiveDims, [1, 3, 20, 20, 85], 84)).toEqual([]);
  });
});

describe("rows", () => {
  test.each<[number[], number, StorageOrder | undefined, string[]]>([
    [[1, 8400, 84], 84, undefined, ["rows 8400 1/84"]],
    [[1, 84, 8400], 84, undefined, ["planes 8400 8400/1"]],
    [[8400, 84], 84, undefined, ["rows 8400 1/84"]],
    [[1, 9, 9], 9, undefined, ["rows 9 1/9", "planes 9 9/1"]],
    [[1, 9, 9], 9, "planes", ["planes 9 9/1"]],
    // a single cell, or a single channel, is the same in both orders
    [[1, 1, 6], 6, "planes", ["rows 1 1/6"]],
    [[1, 10], 1, undefined, ["rows 10 1/1"]],
    [[1, 1, 100, 7], 7, undefined, ["rows 100 1/7"]],
    [[1, 2, 3, 7], 7, undefined, []],
  ])("%j with %i channels, order %s", (dims, k, order, expected) => {
    expect(seen(rows, dims, k, order)).toEqual(expected);
  });

  test("all rows in one dimension", () => {
    expect(seen(rowsOrFlat, [1, 7668], 4)).toEqual(["flat 1917 1/4"]);
    expect(seen(rowsOrFlat, [1, 7667], 4)).toEqual([]);
    expect(seen(rowsOrFlat, [1, 1917, 4], 4)).toEqual(["rows 1917 1/4"]);
  });
});

test("columns move by elements and by channels", () => {
  const column = { tensor: 2, offset: 5, channel: 100, cell: 1 };
  expect(move(column, 3)).toEqual({ ...column, offset: 8 });
  expect(beside(column, -2)).toEqual({ ...column, offset: -195 });
});

describe("maps of an input", () => {
  const input = { inputSize: [416, 320] as const, strides: null };

  test("at usual strides, at the config's, and none without an input size", () => {
    expect(gridsOf(input, [8, 32])).toEqual([
      { w: 52, h: 40, cells: 2080, stride: 8 },
      { w: 13, h: 10, cells: 130, stride: 32 },
    ]);
    expect(gridsOf({ ...input, strides: [64] })).toEqual([{ w: 7, h: 5, cells: 35, stride: 64 }]);
    expect(gridsOf({ inputSize: null, strides: [8] })).toEqual([]);
  });

  test("that add up to so many rows", () => {
    expect(gridsOfRows(input, 2080 + 520 + 130)?.map(({ stride }) => stride)).toEqual([8, 16, 32]);
    expect(gridsOfRows(input, 130)?.map(({ stride }) => stride)).toEqual([32]);
    expect(gridsOfRows(input, 131)).toBeNull();
  });

  test("416 pixels are six and a half cells of 64, in a map of seven", () => {
    expect(cellsAcross(input, { w: 7, h: 5 })).toEqual([6.5, 5]);
    expect(cellsAcross(input, { w: 9, h: 9 })).toEqual([9, 9]);
  });
});
