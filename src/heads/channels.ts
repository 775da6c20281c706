/** Finds all layouts in which a tensor can hold K channels, whatever the channels mean. Steps are in elements. */
import type { TensorSpec } from "../core/tensor.ts";
import { volume } from "../core/tensor.ts";

/** One value per cell of a tensor, such as the objectness. Offset and steps also locate the channels after it. */
export interface Column {
  /** Index of the tensor. */
  readonly tensor: number;
  /** Offset of the value of cell 0. */
  readonly offset: number;
  /** Step from channel to channel. */
  readonly channel: number;
  /** Step from cell to cell. */
  readonly cell: number;
}

/** Returns the column moved by a count of elements. */
export const move = (column: Column, elements: number): Column => ({
  ...column,
  offset: column.offset + elements,
});

/** Returns the column moved by a count of channels. */
export const beside = (column: Column, channels: number): Column => move(column, channels * column.channel);

/** Storage order of a tensor. "NAhwK": one map per anchor, with K last. "NAKhw": one map per anchor, with K first.
 * "NhwAK": the anchors inside each cell, with K last. "flat": all rows in one dimension. */
export type Layout =
  "NCHW" | "NHWC" | "CHW" | "HWC" | "NAhwK" | "NAKhw" | "NhwAK" | "rows" | "planes" | "flat";

/** One possible layout of K channels in a tensor. */
export interface ChannelView {
  readonly batch: number;
  /** Count of cells or of rows. */
  readonly cells: number;
  /** Step from channel to channel. */
  readonly channel: number;
  /** Step from cell to cell. */
  readonly cell: number;
  readonly layout: Layout;
  /** Width and height of a feature map in cells; 0 for rows. */
  readonly w: number;
  readonly h: number;
  /** Count of the network's maps with the same size and smaller strides. */
  readonly earlier?: number;
}

/** Function that returns every layout of `k` channels in a tensor. */
export type Views = (s: TensorSpec, k: number) => ChannelView[];

/** Returns no layout, for a part that never has this layout. */
export const none: Views = () => [];

/** Returns the layouts as a feature map: [N,K,h,w] and [N,h,w,K], or the same without N. */
export const maps: Views = ({ dims, order }, k) => {
  const orderWord = order?.toUpperCase() ?? "";
  const batched = dims.length === 4;
  const [batch, a, b, c] = batched ? dims : [1, ...dims];
  // Treat [1,R,K] as rows with a batch of 1, not as a map one cell high.
  if (!(batched || (dims.length === 3 && (a !== 1 || k === 1))) || /ROWS|PLANES/.test(orderWord)) return [];
  const views: ChannelView[] = [];
  if (a === k && !/^N?HWC$/.test(orderWord)) {
    const layout = batched ? "NCHW" : "CHW";
    views.push({ batch, cells: b * c, channel: b * c, cell: 1, layout, w: c, h: b });
  }
  if (c === k && !/^N?CHW$/.test(orderWord) && !(views.length > 0 && b === 1)) {
    const layout = batched ? "NHWC" : "HWC";
    views.push({ batch, cells: a * b, channel: 1, cell: k, layout, w: b, h: a });
  }
  return views;
};

/** Returns the layouts as a map with a dimension for the anchors: [N,A,h,w,K], [N,h,w,A,K] or [N,A,K,h,w]. */
export const fiveDims: Views = ({ dims, order }, k) => {
  const [batch, a, b, c, last] = dims;
  if (dims.length !== 5) return [];
  const planes: ChannelView = {
    batch,
    cells: c * last,
    channel: c * last,
    cell: 1,
    layout: "NAKhw",
    w: last,
    h: c,
  };
  if (last !== k) return b === k ? [planes] : [];
  const outermost: ChannelView = { batch, cells: b * c, channel: 1, cell: k, layout: "NAhwK", w: c, h: b };
  const inCells: ChannelView = { batch, cells: a * b, channel: 1, cell: c * k, layout: "NhwAK", w: b, h: a };
  // If the shape fits both views, the stated storage order decides.
  if (a === c && order?.toUpperCase() === "NCHW") return [outermost];
  if (a === c && order?.toUpperCase() === "NHWC") return [inCells];
  return [outermost, inCells];
};

/** Returns the layouts as rows [N,R,K] and planes [N,K,R], also without N, and with added dimensions of 1. */
export const rows: Views = ({ dims, order }, k) => {
  let orderWord = order?.toLowerCase();
  // Translate a stated order of maps: their cells are then planes or rows.
  if (dims.length === 4 && orderWord === "nchw") orderWord = "planes";
  if (dims.length === 4 && orderWord === "nhwc") orderWord = "rows";
  const views: ChannelView[] = [];
  const add = (batch: number, tail: readonly number[]): void => {
    const long = tail.filter((x) => x !== 1);
    // Dimensions of 1 may stand for a single row or for a single channel.
    const [a, b] =
      long.length > 2 ? [] : long.length > 1 ? long : k === 1 ? [...long, 1, 1] : [1, ...long, 1];
    // With a single cell or channel, rows and planes are the same, so add only rows.
    if (b === k && (orderWord !== "planes" || a === 1 || k === 1))
      views.push({ batch, cells: a, channel: 1, cell: k, layout: "rows", w: 0, h: 0 });
    if (a === k && k !== 1 && b !== 1 && orderWord !== "rows")
      views.push({ batch, cells: b, channel: b, cell: 1, layout: "planes", w: 0, h: 0 });
  };
  if (dims.length > 2) add(dims[0], dims.slice(1));
  else if (dims.length > 1) {
    // Two dimensions: [R,K], or [N,R] for one channel.
    if (k === 1) add(dims[0], [dims[1]]);
    if (k !== 1 || (dims[1] === 1 && dims[0] !== 1)) add(1, dims);
  } else if (dims.length > 0) add(1, dims);
  return views;
};

/** Returns the layouts as rows. If there are none, tries [1,R*K], as in Caffe's flattened outputs. */
export const rowsOrFlat: Views = (s, k) => {
  const views = rows(s, k);
  const elements = volume(s.dims);
  const isFlat = s.dims.filter((x) => x !== 1).length === 1 && k > 1 && elements % k === 0 && elements !== k;
  return views.length > 0 || !isFlat
    ? views
    : [{ batch: 1, cells: elements / k, channel: 1, cell: k, layout: "flat", w: 0, h: 0 }];
};
