/**
 * Decides which outputs are finished rows, one for each detection. Decoder, plan files and `inspect` follow this
 * decision: the reader of heads takes only tensors whose spec has the field `finished`. The values of a frame choose
 * among the column orders that the shapes allow.
 */
import { refuseFor } from "../core/errors.ts";
import { type RowFacts, type RowOrderName, rowOrder } from "../core/row-orders.ts";
import { isFloat, shape, type TensorSpec, volume } from "../core/tensor.ts";
import { mayPlay, preferred } from "./match.ts";
import { hasOnlyFinishedRows, type HeadQuery } from "./query.ts";

/** Finished rows among the outputs. */
export interface FoundRows extends RowFacts {
  /** Index of the tensor of rows. */
  readonly at: number;
  /** True: mmdeploy's cx cy w h angle score. */
  readonly isRotated: boolean;
  /** True: the shape may also be that of undecoded cells. */
  readonly mayBeCells: boolean;
  /** True: the kernel cannot read the rows as they are, so plan files refuse them. Decoders convert all rows. */
  readonly needsConversion: boolean;
}

type Asked = Pick<HeadQuery, "traits" | "roles" | "reading" | "classes" | "task">;
type Specs = readonly TensorSpec[];

/** Column count of mmdeploy's rotated boxes. Their class ids are a separate tensor. */
const ROTATED_WIDTH = 6;
const CLASS_NAME = /class|label/i;

/** Returns the index of the tensor that may hold class ids or counts. If there are several, names decide. */
function partnerOf({ roles }: Asked, specs: Specs, at: number): number {
  const others = specs.filter(({ name }, i) => i !== at && (roles?.classIds ?? name) === name);
  const named = others.filter(({ name }) => /num|count|valid|class|label/i.test(name));
  const [partner] = preferred(others.length < 2 ? others : named, ({ name }) => CLASS_NAME.test(name));
  return specs.indexOf(partner);
}

/** Returns the index of the only tensor of the highest rank whose rows have one of the widths, or -1. */
function rowsAmong(asked: Asked, specs: Specs, widths: readonly number[], isOnly: boolean): number {
  const fitting = specs.filter(
    ({ name, dims, type, scale }) =>
      (dims.length === 2 || (isOnly && dims.length > 2 && dims.length < 5)) &&
      (dims.length < 4 || dims[1] === 1) &&
      mayPlay(asked, "boxes", name) &&
      widths.includes(dims[dims.length - 1]) &&
      (isFloat({ type }) || scale !== null),
  );
  const most = Math.max(...fitting.map(({ dims }) => dims.length));
  const [spec, ...more] = fitting.filter(({ dims }) => dims.length === most);
  return more.length > 0 ? -1 : specs.indexOf(spec);
}

/** Returns the finished rows of a family. Returns `null` if the outputs hold none. */
export function findFinishedRows(asked: Asked, specs: Specs): FoundRows | null {
  const { traits, reading, classes, task } = asked;
  const { finishedRows = [], packed } = traits;
  const none = { classIds: -1, counts: -1, isRotated: false, mayBeCells: false } as const;
  if (packed)
    return specs.length === 1 ? { ...none, at: 0, orders: ["end-to-end"], needsConversion: true } : null;
  const allowed = finishedRows.filter((name) =>
    reading === null ? !rowOrder(name).isOnlyStated : name === reading,
  );
  const mayRotate = allowed.includes("box-score-labels");
  // In rows whose order is stated, keypoints may follow.
  const [points, values] = (reading !== null && task?.keypoints) || [0, 0];
  const widthOf = (name: RowOrderName): number => rowOrder(name).width + points * values;
  const widths = [...allowed.map(widthOf), ...(mayRotate ? [ROTATED_WIDTH] : [])];
  // Other families also have undecoded exports, to which rows [1,N,7] may belong.
  const isOnly = hasOnlyFinishedRows(traits);
  const at = rowsAmong(asked, specs, widths, isOnly);
  if (at < 0) return null;
  const { dims } = specs[at];
  const width = dims[dims.length - 1];
  const count = volume(dims) / width;
  // Rows beside boxes are scores.
  if (specs.some((s, i) => i !== at && s.dims[s.dims.length - 1] === 4 && volume(s.dims) === count * 4))
    return null;
  const partner = partnerOf(asked, specs, at);
  const isOnePerRow = partner >= 0 && volume(specs[partner].dims) === count;
  const isRotated = mayRotate && width === ROTATED_WIDTH && isOnePerRow && count > 1;
  if (isRotated && task?.name !== "oriented")
    refuseFor(
      [{ option: "task", value: "oriented" }],
      shape(specs[at]),
      "rows of six beside class ids: cx cy w h angle score of rotated boxes",
      'task: "oriented"',
    );
  const hasIds = isOnePerRow || (partner >= 0 && CLASS_NAME.test(specs[partner].name));
  // Rows of one class need no class ids, if the family has no other order.
  const isBare = classes === 1 && finishedRows[0] === "box-score-labels";
  const ofWidth = allowed.filter((name) => {
    const order = rowOrder(name);
    return widthOf(name) === width && (order.classId !== null || hasIds || isBare);
  });
  const counted = ofWidth.filter((name) => rowOrder(name).isCounted && specs[partner]?.dims.length < 3);
  const hasCounts = counted.length > 0;
  const orders = isRotated ? (["end-to-end"] as const) : hasCounts ? counted : ofWidth;
  return orders.length === 0
    ? null
    : {
        at,
        classIds: hasIds && (isRotated || rowOrder(orders[0]).classId === null) ? partner : -1,
        counts: hasCounts ? partner : -1,
        orders,
        isRotated,
        mayBeCells: !isOnly && [4, 5].includes(width - (classes ?? 0)),
        needsConversion: isRotated || hasCounts,
      };
}

/** Returns the fields of the config under which converted rows are read, and the facts about the tensor of rows. */
export const asConverted = (reading: RowOrderName | null) => ({
  config: { reading, roles: null, outputs: null, headOutputs: null },
  finished: { orders: reading ? [reading] : [], classIds: -1, counts: 1 },
});

/** Smallest count of rows for which room is reserved. */
export const LEAST_ROOM = 16;

/** Returns the name of the tensor with the row counts of the images. */
export const countsOf = (name: string): string => `rows of ${name}`;

/** Returns the image count of rows, as their shape shows it. */
export const imagesOf = ({ dims }: Pick<TensorSpec, "dims">): number => (dims.length > 2 ? dims[0] : 1);
