/** The ways to see one tensor by its shape: as rows, as a map or as a list, whatever its channels mean. */
import type { ElementType } from "../core/tensor.ts";

/** Name, shape and element type of a tensor. Unknown dimensions are `null`. */
export interface OpenTensor {
  readonly name: string;
  readonly dims: readonly (number | null)[];
  readonly type: ElementType | null;
}

/** One way to see a tensor: `k` channels for each of `n` rows or cells. */
export interface View {
  /** Index of the tensor. */
  readonly tensor: number;
  readonly k: number;
  /** Count of rows or cells; `null` if unknown. */
  readonly n: number | null;
  /** Width and height of a map in cells, 0 for rows. */
  readonly w: number;
  readonly h: number;
  /** True if the channels of a row, or of a cell, are adjacent in memory. */
  readonly isInterleaved: boolean;
  /** Rank of the shape. */
  readonly rank: number;
}

/** Name of a way to see a tensor. */
export type ViewKind = "rows" | "map" | "anchors" | "list";

/** Returns every way to see a tensor as rows, with the channels as the last dimension or as planes. */
function rowsOf(tensor: number, dims: OpenTensor["dims"]): View[] {
  const rank = dims.length;
  const shared = { tensor, w: 0, h: 0, rank } as const;
  const row = (n: number | null, k: number | null, isInterleaved: boolean): View[] =>
    k === null ? [] : [{ ...shared, n, k, isInterleaved }];
  const long = (rank > 2 ? dims.slice(1) : dims).filter((d) => d !== 1);
  if (rank > 4) return [];
  // Join the last two dimensions, or the first two: [N,R,17,3] has 17 keypoints of 3 values for each row.
  if (long.length > 2) {
    const [a, b, c] = long;
    if (rank !== 4 || long.length > 3) return [];
    return [
      ...(b !== null && c !== null && c <= 8 ? row(a, b * c, true) : []),
      ...(a !== null && b !== null && b <= 8 ? row(c, a * b, false) : []),
    ];
  }
  if (long.length === 2) return [...row(long[0], long[1], true), ...row(long[1], long[0], false)];
  if (long.length === 1) return [...row(long[0], 1, true), ...row(1, long[0], true)];
  return row(1, 1, true);
}

/** Returns every way to see a tensor as a feature map. Sides are 0 if the file does not state them. */
function mapsOf(tensor: number, dims: OpenTensor["dims"]): View[] {
  if (dims.length < 3 || dims.length > 4) return [];
  const isBatched = dims.length === 4;
  const [k, ...sides] = isBatched ? dims.slice(1) : dims;
  if (isBatched && k !== null && sides.every((d) => d === null))
    return [{ tensor, k, n: null, w: 0, h: 0, isInterleaved: false, rank: 4 }];
  // If all dimensions but the batch are unknown, assume masks of a list: [batch,num_dets,height,width].
  if (isBatched && dims.slice(1).every((d) => d === null))
    return [{ tensor, k: 1, n: null, w: 0, h: 0, isInterleaved: false, rank: 4 }];
  const [height, width] = sides;
  // If only the first of three dimensions is unknown, assume masks of a list: [N,28,28].
  if (!isBatched && k === null && height !== null && width !== null)
    return [{ tensor, k: 1, n: height * width, w: width, h: height, isInterleaved: false, rank: 3 }];
  if ([k, ...sides].some((d) => d === null)) return [];
  const [a, b, c] = [k, ...sides] as number[];
  if (!isBatched && a === 1) return [];
  const view = (k: number, h: number, w: number, isInterleaved: boolean): View => ({
    tensor,
    k,
    n: w * h,
    w,
    h,
    isInterleaved,
    rank: dims.length,
  });
  return [view(a, b, c, false), ...(a === 1 && c === 1 ? [] : [view(c, a, b, true)])];
}

/**
 * Returns every way to see a tensor as a map with a dimension for the anchors. `k` is the channel count of one anchor.
 * ncnn joins height and width.
 */
function anchorsOf(tensor: number, dims: OpenTensor["dims"]): View[] {
  const rank = dims.length;
  if (dims.some((d) => d === null) || (rank !== 5 && rank !== 3)) return [];
  const known = dims as readonly number[];
  const shared = { tensor, k: known[rank - 1], isInterleaved: true, rank } as const;
  if (rank === 3) return known[0] === 3 ? [{ ...shared, n: known[1], w: 0, h: 0 }] : [];
  const [, a, b, c, last] = known;
  return [
    // rknn's exporter may leave the channels before the cells: [1,3,85,80,80].
    ...(a <= 6 ? [{ ...shared, k: b, n: c * last, w: last, h: c, isInterleaved: false }] : []),
    ...(a <= 6 ? [{ ...shared, n: b * c, w: c, h: b }] : []),
    ...(c <= 6 ? [{ ...shared, n: a * b, w: b, h: a }] : []),
  ];
}

/** Returns the only way to see a tensor as a list: one value per row. */
function listOf(tensor: number, dims: OpenTensor["dims"]): View[] {
  const [long, ...more] = dims.filter((d) => d !== 1);
  // [N,R] or [N,R,1]
  if (more.length > 1 || (more.length === 1 && dims.slice(2).some((d) => d !== 1))) return [];
  // [N,R] with an unknown batch
  const n = more.length === 1 ? more[0] : long === undefined ? 1 : long;
  return [{ tensor, k: 1, n, w: 0, h: 0, isInterleaved: true, rank: dims.length }];
}

const VIEWS = { rows: rowsOf, map: mapsOf, anchors: anchorsOf, list: listOf } as const satisfies {
  readonly [K in ViewKind]: (tensor: number, dims: OpenTensor["dims"]) => View[];
};

/** The views of some tensors. Each view is computed once. */
export type AllViews = readonly { readonly [K in ViewKind]: readonly View[] }[];

export const viewsOf = (tensors: readonly OpenTensor[]): AllViews =>
  tensors.map(({ dims }, i) => ({
    rows: VIEWS.rows(i, dims),
    map: VIEWS.map(i, dims),
    anchors: VIEWS.anchors(i, dims),
    list: VIEWS.list(i, dims),
  }));
