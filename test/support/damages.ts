/** Ways to damage the output tensors of a network: mistakes of exporters, runtimes and callers. */
import type { TensorInput } from "../../src/core/tensor.ts";

export type Tensors = Record<string, TensorInput>;

/** Columns of boxes. `unit`: of coordinates; offsets, distances and bins have none. */
export interface BoxColumns {
  readonly tensor: RegExp;
  /** The dimension of the columns, counted from the end: 1 is the last. */
  readonly axis: 1 | 2 | 3;
  readonly first: number;
  readonly form: BoxForm | "distances";
  readonly unit?: "pixels" | "0..1";
}

/** Columns of scores. Without a count all from the first on. */
export interface ScoreColumns {
  readonly tensor: RegExp;
  readonly axis: 1 | 2 | 3;
  readonly first: number;
  readonly count?: number;
  readonly form: "probabilities" | "logits";
}

export interface Columns {
  readonly boxes: readonly BoxColumns[];
  readonly scores: readonly ScoreColumns[];
}

export interface Damaged {
  readonly what: string;
  readonly tensors: Tensors;
}

type Change = (tensor: TensorInput) => TensorInput | null;
type Numbers = number[] & Float32Array;

const volume = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const isLong = (dims: readonly number[]): boolean => dims.length > 1 && dims.slice(-2).every((n) => n > 1);

/** Returns an array of the same class. A list of numbers would take most of the time of a test. */
function emptyLike(data: TensorInput["data"], length: number): Numbers {
  return new (data.constructor as new (length: number) => Numbers)(length);
}

/** Returns a tensor with a dimension cut by one. */
function cut({ data, dims, ...rest }: TensorInput, axis: number): TensorInput {
  const after = volume(dims.slice(axis + 1));
  const length = dims[axis];
  const kept = emptyLike(data, (volume(dims) / length) * (length - 1));
  for (let i = 0, to = 0; to < kept.length; i++)
    if (Math.floor(i / after) % length < length - 1) kept[to++] = (data as Numbers)[i];
  return { ...rest, data: kept, dims: dims.map((d, k) => (k === axis ? d - 1 : d)) };
}

/** Exchanges the last two dims. The values stay where they were. */
const turnDims: Change = (tensor) => {
  if (!isLong(tensor.dims) || tensor.dims.at(-1) === tensor.dims.at(-2)) return null;
  const dims = [...tensor.dims];
  dims.push(...dims.splice(-2).reverse());
  return { ...tensor, dims };
};

/** Brings the values into the order of other dims, `order` as in a transposition. The dims stay. */
function moveValues({ data, dims, ...rest }: TensorInput, order: readonly number[]): TensorInput {
  const steps = dims.map((_, k) => volume(dims.slice(k + 1)));
  const moved = emptyLike(data, volume(dims));
  for (let i = 0; i < moved.length; i++) {
    let from = 0;
    let left = i;
    for (let k = order.length - 1; k >= 0; k--) {
      from += (left % dims[order[k]]) * steps[order[k]];
      left = Math.floor(left / dims[order[k]]);
    }
    moved[i] = (data as Numbers)[from];
  }
  return { ...rest, dims, data: moved };
}

const turnValues: Change = (tensor) => {
  const { length } = tensor.dims;
  const order = [...tensor.dims.keys()].slice(0, -2);
  return isLong(tensor.dims) ? moveValues(tensor, [...order, length - 1, length - 2]) : null;
};

/** Stores a map of four dims in the other order. A tensor whose first channel count is small is NCHW. */
const storeChannels = (isNchw: boolean): Change => {
  const order = isNchw ? [0, 2, 3, 1] : [0, 3, 1, 2];
  return (tensor) => (tensor.dims.length === 4 && isLong(tensor.dims) ? moveValues(tensor, order) : null);
};

/** Replaces every value; null for types that have no such value. */
const fill =
  (value: number): Change =>
  ({ data, dims, ...rest }) => {
    const count = volume(dims);
    if (data instanceof Float32Array) return { ...rest, dims, data: new Float32Array(count).fill(value) };
    if (data instanceof Uint16Array && Number.isNaN(value))
      return { ...rest, dims, data: new Uint16Array(count).fill(0x7e00) };
    if (data instanceof BigInt64Array && value > 1 && value < Infinity)
      return { ...rest, dims, data: new BigInt64Array(count).fill(BigInt(value)) };
    if (data instanceof Int32Array && value > 1 && value < Infinity)
      return { ...rest, dims, data: new Int32Array(count).fill(value) };
    return null;
  };

/** Quantises floats, and loses scale and zero point. */
const loseScale: Change = ({ data, dims }) => {
  if (!(data instanceof Float32Array)) return null;
  const step = data.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127 || 1;
  return { dims, data: Int8Array.from(data, (x) => Math.round(x / step)) };
};

const halve: Change = (tensor) => {
  const [batch, rows, ...rest] = tensor.dims;
  return batch === 1 && rows % 2 === 0 ? { ...tensor, dims: [2, rows / 2, ...rest] } : null;
};

const EACH: readonly (readonly [what: string, change: Change])[] = [
  ["a column missing", (t) => ((t.dims.at(-1) ?? 0) > 1 ? cut(t, t.dims.length - 1) : null)],
  ["a row missing", (t) => ((t.dims.at(-2) ?? 0) > 1 ? cut(t, t.dims.length - 2) : null)],
  ["transposed dims", turnDims],
  ["transposed values", turnValues],
  ["NaN", fill(NaN)],
  ["Infinity", fill(Infinity)],
  ["zeros", fill(0)],
  ["too large", fill(9999)],
  [
    "half NaN",
    (t) => (t.data instanceof Float32Array ? { ...t, data: t.data.map((x, i) => (i % 2 ? x : NaN)) } : null),
  ],
  ["integers without scale", loseScale],
  ["a batch of 2", halve],
];

const ALL: readonly (readonly [what: string, change: Change])[] = [
  ["transposed dims", turnDims],
  ["transposed values", turnValues],
  ["a batch of 2", halve],
];

/** Applies a change to the tensors that pass; null if it changes none. */
function changed(tensors: Tensors, change: Change, passes = (_: string): boolean => true): Tensors | null {
  const entries = Object.entries(tensors).map(
    ([name, t]) => [name, passes(name) ? change(t) : null, t] as const,
  );
  return entries.some(([, other]) => other !== null)
    ? Object.fromEntries(entries.map(([name, other, t]) => [name, other ?? t]))
    : null;
}

/** Returns every damage that needs no knowledge of what the tensors hold. */
export function shapelessDamages(tensors: Tensors, isNchw: boolean): Damaged[] {
  const names = Object.keys(tensors);
  const store = ["the other storage order", storeChannels(isNchw)] as const;
  const list = [...EACH, store].flatMap(([what, change]) =>
    names.map((name) => [`${name}: ${what}`, changed(tensors, change, (n) => n === name)] as const),
  );
  const all = [...ALL, store].map(([what, change]) => [`all: ${what}`, changed(tensors, change)] as const);
  const missing = names.map((name) => {
    const others = Object.fromEntries(Object.entries(tensors).filter(([other]) => other !== name));
    return [`${name}: missing`, others] as const;
  });
  const swapped = names.flatMap((a, i) =>
    names
      .slice(i + 1)
      .map((b) => [`${a}, ${b}: exchanged`, { ...tensors, [a]: tensors[b], [b]: tensors[a] }] as const),
  );
  return [...list, ...(names.length > 1 ? all : []), ...missing, ...swapped].flatMap(([what, damaged]) =>
    damaged ? [{ what, tensors: damaged }] : [],
  );
}

/** Replaces the columns of each row by what a function makes of them. */
function mapColumns(
  { data, dims, ...rest }: TensorInput,
  { axis, first, count }: { axis: number; first: number; count?: number },
  f: (values: readonly number[]) => readonly number[],
): TensorInput {
  const at = dims.length - axis;
  const inner = volume(dims.slice(at + 1));
  const columns = dims[at];
  const n = count ?? columns - first;
  const values = (data as Numbers).slice() as Numbers;
  for (let outer = 0; outer < volume(dims.slice(0, at)); outer++)
    for (let i = 0; i < inner; i++) {
      const place = (k: number): number => (outer * columns + first + k) * inner + i;
      f(Array.from({ length: n }, (_, k) => values[place(k)])).forEach((x, k) => (values[place(k)] = x));
    }
  return { ...rest, dims, data: values };
}

const FORMS = {
  xyxy: { to: (v: readonly number[]) => v, from: (v: readonly number[]) => v },
  yxyx: {
    to: ([a, b, c, d]: readonly number[]) => [b, a, d, c],
    from: ([a, b, c, d]: readonly number[]) => [b, a, d, c],
  },
  cxcywh: {
    to: ([x, y, w, h]: readonly number[]) => [x - w / 2, y - h / 2, x + w / 2, y + h / 2],
    from: ([a, b, c, d]: readonly number[]) => [(a + c) / 2, (b + d) / 2, c - a, d - b],
  },
  xywh: {
    to: ([x, y, w, h]: readonly number[]) => [x, y, x + w, y + h],
    from: ([a, b, c, d]: readonly number[]) => [a, b, c - a, d - b],
  },
} as const;

type BoxForm = keyof typeof FORMS;

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const logit = (p: number): number => Math.log(Math.max(p, 1e-6) / Math.max(1 - p, 1e-6));

/** Returns damages of boxes: other forms, the other unit, no size, one place, values that are not finite. */
export function boxDamages(tensors: Tensors, { boxes }: Columns, [w, h]: readonly number[]): Damaged[] {
  const damage = (
    what: string,
    make: (columns: BoxColumns) => ((corners: readonly number[]) => readonly number[]) | null,
    other?: BoxForm,
  ): Damaged[] => {
    let result: Tensors | null = null;
    for (const columns of boxes) {
      const { form } = columns;
      const f = make(columns);
      if (f === null || other === form) continue;
      const { to, from } = form === "distances" ? FORMS.xyxy : FORMS[form];
      const change = (t: TensorInput): TensorInput =>
        mapColumns(t, { ...columns, count: 4 }, (v) => (other ? FORMS[other].from : from)(f(to(v))));
      result = changed(result ?? tensors, change, (name) => columns.tensor.test(name)) ?? result;
    }
    return result ? [{ what: `boxes: ${what}`, tensors: result }] : [];
  };
  const plain = ({ form }: BoxColumns): boolean => form !== "distances";
  const asIs = (c: BoxColumns) => (plain(c) ? (v: readonly number[]) => v : null);
  const scaled = (unit: BoxColumns["unit"], x: number, y: number) => (c: BoxColumns) =>
    c.unit === unit ? ([a, b, d, e]: readonly number[]) => [a * x, b * y, d * x, e * y] : null;
  return [
    ...(["xyxy", "cxcywh", "xywh", "yxyx"] as const).flatMap((form) => damage(`${form} instead`, asIs, form)),
    ...damage("0..1 for pixels", scaled("pixels", 1 / w, 1 / h)),
    ...damage("pixels for 0..1", scaled("0..1", w, h)),
    ...damage("no size", (c) => (plain(c) ? ([a, b]) => [a, b, a, b] : () => [0, 0, 0, 0])),
    ...damage("one place", (c) =>
      plain(c) ? () => (c.unit === "0..1" ? [0.2, 0.2, 0.4, 0.4] : [20, 20, 40, 40]) : null,
    ),
    ...damage("one coordinate NaN", () => ([a, b, , d]) => [a, b, NaN, d]),
    ...damage("one coordinate Infinity", () => ([a, b, , d]) => [a, b, Infinity, d]),
  ];
}

/** Returns damages of scores: the sigmoid too often or not at all, other ranges, one value. */
export function scoreDamages(tensors: Tensors, { scores }: Columns): Damaged[] {
  const damage = (what: string, form: ScoreColumns["form"] | null, f: (x: number) => number): Damaged[] => {
    let result: Tensors | null = null;
    for (const columns of scores)
      if (form === null || columns.form === form)
        result =
          changed(
            result ?? tensors,
            (t) => mapColumns(t, columns, (v) => v.map(f)),
            (name) => columns.tensor.test(name),
          ) ?? result;
    return result ? [{ what: `scores: ${what}`, tensors: result }] : [];
  };
  return [
    ...damage("logits for probabilities", "probabilities", logit),
    ...damage("probabilities for logits", "logits", sigmoid),
    ...damage("the sigmoid twice", "probabilities", sigmoid),
    ...damage("0..255", "probabilities", (x) => x * 255),
    ...damage("one value", null, () => 0.7),
    ...damage("NaN", null, () => NaN),
    ...damage("Infinity", null, () => Infinity),
  ];
}
