/**
 * The ways in which a tensor has K channels. Nothing here knows what a channel means. All offsets and steps are in
 * elements, within one image of a batch.
 */
import type { TensorSpec } from "../core/tensor.ts";
import { volume } from "../core/tensor.ts";

/** A column of a tensor: `offset` of cell 0, `channel` from class to class (or bin to bin), `cell` from cell to cell. */
export interface Column {
  readonly tensor: number;
  readonly offset: number;
  readonly channel: number;
  readonly cell: number;
}

/** The column so many elements, or so many channels, further on. */
export const move = (f: Column, offset: number): Column => ({ ...f, offset: f.offset + offset });
export const beside = (f: Column, channels: number): Column => move(f, channels * f.channel);

export interface ChannelView {
  readonly batch: number;
  readonly cells: number;
  readonly channel: number;
  readonly cell: number;
  readonly layout: string;
  /** Width and height of a map; 0 for rows. */
  readonly w: number;
  readonly h: number;
}

export type Views = (s: TensorSpec, k: number) => ChannelView[];

const view = (
  batch: number,
  cells: number,
  channel: number,
  cell: number,
  layout: string,
  w = 0,
  h = 0,
): ChannelView => ({ batch, cells, channel, cell, layout, w, h });

/** Nothing at all. */
export const none: Views = () => [];

/** Maps: [N,K,h,w], [N,h,w,K], and both without batch. */
export const maps: Views = ({ dims, order }, k) => {
  const said = order?.toUpperCase() ?? "";
  const batched = dims.length === 4;
  const [n, a, b, c] = batched ? dims : [1, ...dims];
  // [1,R,K] is rows with a batch of 1, not a map one cell high
  if (!(batched || (dims.length === 3 && (a !== 1 || k === 1))) || /ROWS|PLANES/.test(said)) return [];
  const out: ChannelView[] = [];
  const name = batched ? "N" : "";
  if (a === k && !/^N?HWC$/.test(said)) out.push(view(n, b * c, b * c, 1, `${name}CHW`, c, b));
  if (c === k && !/^N?CHW$/.test(said) && !(out.length > 0 && b === 1))
    out.push(view(n, a * b, 1, k, `${name}HWC`, b, a));
  return out;
};

/** Anchors outermost, rows of K: [N,A,h,w,K]. */
export const fiveDims: Views = ({ dims: [n, , h, w, last], dims: { length } }, k) =>
  length === 5 && last === k ? [view(n, h * w, 1, k, "NAhwK", w, h)] : [];

/** Rows [N,R,K] and planes [N,K,R], without batch too, with dimensions of 1 anywhere. */
export const rows: Views = ({ dims: d, order }, k) => {
  let said = order?.toLowerCase();
  // of a map, the order says the same of its cells in a row
  if (d.length === 4 && said === "nchw") said = "planes";
  if (d.length === 4 && said === "nhwc") said = "rows";
  const out: ChannelView[] = [];
  const add = (batch: number, tail: readonly number[]): void => {
    const t = tail.filter((x) => x !== 1);
    // dims of 1 may stand for a single row or a single channel
    const [a, b] = t.length > 2 ? [] : t.length > 1 ? t : k === 1 ? [...t, 1, 1] : [1, ...t, 1];
    // a single cell, or a single channel, is the same in both orders
    if (b === k && (said !== "planes" || a === 1 || k === 1)) out.push(view(batch, a, 1, k, "rows"));
    if (a === k && k !== 1 && b !== 1 && said !== "rows") out.push(view(batch, b, b, 1, "planes"));
  };
  if (d.length > 2) add(d[0], d.slice(1));
  // [R,K] or, of one channel, [N,R]
  else if (d.length > 1) {
    if (k === 1) add(d[0], [d[1]]);
    if (k !== 1 || (d[1] === 1 && d[0] !== 1)) add(1, d);
  } else if (d.length > 0) add(1, d);
  return out;
};

/** Rows, or all of them in one, [1, R*K] (Caffe's flattened outputs). */
export const rowsOrFlat: Views = (s, k) => {
  const n = volume(s.dims);
  const flat = s.dims.filter((x) => x !== 1).length === 1 && k > 1 && n % k === 0 && n !== k;
  const found = rows(s, k);
  return found.length > 0 || !flat ? found : [view(1, n / k, 1, k, "flat")];
};
