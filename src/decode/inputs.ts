/** A caller's tensors on their way into the slots. */
import { refuse } from "../core/errors.ts";
import {
  ELEMENTS,
  type SlotArray,
  type TensorInput,
  type TensorSpec,
  isFloat,
  kindOf,
  scaleOf,
  show,
  specOf,
} from "../core/tensor.ts";

/** Network outputs: an array, or a record by name. What `session.run()` of ONNX Runtime resolves to is one. */
export type Outputs = readonly TensorInput[] | { readonly [name: string]: TensorInput };

/** One tensor's place in the decoder's memory. */
export interface Slot {
  /** Write the tensor here, then call `decode()` without arguments: nothing is copied. f16 as bits. */
  readonly data: SlotArray;
  readonly dims: readonly number[];
  readonly type: string;
}

/** What is said of a tensor before its data comes. */
export type Known = Partial<Pick<TensorSpec, "order" | "scale" | "zeroPoint">> & {
  readonly type?: string | null;
};

/** A decoder's tensors and their places in memory. */
export interface Slots {
  readonly tensors: readonly TensorSpec[];
  readonly slots: readonly SlotArray[];
  /** What was said of each beforehand. */
  readonly known: readonly Known[];
  /** The types that came with the last arrays, as spelled, once they were looked at. */
  readonly types: (string | null | undefined)[];
}

/** The slots as users see them, by name. */
export const slotsByName = ({ tensors, slots }: Slots): { readonly [name: string]: Slot } =>
  Object.fromEntries(tensors.map(({ name, dims, type }, i) => [name, { data: slots[i], dims, type }]));

/** The outputs of a call as a list or a record; a tensor alone is a list of one. */
export function asOutputs(outputs: Outputs | TensorInput): Outputs {
  if (outputs === null || typeof outputs !== "object" || ArrayBuffer.isView(outputs))
    refuse("", show(outputs), "the outputs: an array or a record of {data, dims}");
  // not by kindOf, which makes a text: this is asked of every frame
  if (outputs instanceof Promise) refuse("", "a promise", "what it resolves to: await it");
  if (outputs instanceof Map)
    refuse("", "a Map", "an array or a record, as Object.fromEntries(map) makes of it");
  return "dims" in outputs && "data" in outputs && !Array.isArray(outputs)
    ? [outputs as TensorInput]
    : (outputs as Outputs);
}

/** Whether a tensor is what tensor `i` is taken for, name and order aside; allocates nothing. */
export function isAs({ tensors, slots, known, types }: Slots, i: number, t: TensorInput): boolean {
  const spec = tensors[i];
  const { dims } = t;
  if (!dims || dims.length !== spec.dims.length) return false;
  for (let k = 0; k < dims.length; k++) if (dims[k] !== spec.dims[k]) return false;
  if (t.data?.length !== slots[i].length) return false;
  if (isFloat(spec)) {
    if ((scaleOf(t.scale) ?? 1) !== 1) return false;
    if ((t.zeroPoint ?? 0) !== 0) return false;
  } else if (
    !isNumber(scaleOf(t.scale) ?? scaleOf(known[i].scale), spec.scale) ||
    !isNumber(t.zeroPoint ?? known[i].zeroPoint ?? 0, spec.zeroPoint)
  )
    return false;
  // another array, or another word for its type, may mean another element type: the slow way looks closer
  if (t.data.constructor !== slots[i].constructor || t.type !== types[i]) {
    if (specOf(spec.name, t, { type: known[i].type ?? null }).type !== spec.type) return false;
    types[i] = t.type;
  }
  return true;
}

/** Whether a scale or a zero point is the one that memory holds, as a float. */
const isNumber = (x: number | null, expected: number | null): boolean =>
  x === expected ||
  (typeof x === "number" && x !== 0 && expected !== null && Math.fround(x) === Math.fround(expected));

/** Refuses elements that the slot of tensor `i` cannot hold: integers beyond its type, fractions among them, and what is no number. */
export function checkElements({ tensors, slots }: Slots, i: number, data: TensorInput["data"]): void {
  const list = Array.isArray(data);
  if (!list && (!(slots[i] instanceof Int32Array) || data instanceof Int32Array)) return;
  const { name, type } = tensors[i];
  const whole = !isFloat(tensors[i]);
  const { low, high } = ELEMENTS[type];
  for (let k = 0; k < data.length; k++) {
    const x: unknown = data[k];
    const n = Number(x);
    // i32 ends one above what gates can be; the others end in odd numbers
    if ((list && typeof x !== "number") || (whole && ((n | 0) !== n || n < low || n > (high | 1))))
      refuse(
        `tensor "${name}"`,
        `${String(x)} as element ${k}`,
        whole ? `a whole number of ${type}, ${low}..${high | 1}` : "a number",
      );
  }
}

/** Whether an array is the slot itself. */
export function isSlot(slot: SlotArray, data: TensorInput["data"]): boolean {
  const { buffer, byteOffset } = data as Float32Array;
  return buffer === slot.buffer && byteOffset === slot.byteOffset;
}

/** Copies elements that were checked. */
export function copyInto(slot: SlotArray, data: TensorInput["data"]): void {
  const from = data as Float32Array;
  if (isSlot(slot, data)) return;
  if (from.constructor === slot.constructor) return slot.set(from);
  if (kindOf(data) === "Float16Array") slot.set(new Uint16Array(from.buffer, from.byteOffset, from.length));
  else if (slot instanceof Int32Array) for (let i = 0; i < from.length; i++) slot[i] = Number(from[i]);
  else slot.set(from);
}
