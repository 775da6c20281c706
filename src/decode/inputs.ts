/** Matches a caller's tensors to the plan's, checks that they fit, and copies them into the memory. */
import { refuse } from "../core/errors.ts";
import { dequantiseChannels } from "../core/number.ts";
import {
  checkLocation,
  type KnownSpec,
  ELEMENTS,
  type ElementType,
  type SlotArray,
  type TensorInput,
  type TensorSpec,
  isFloat,
  kindOf,
  scaleOf,
  show,
  specOf,
  volume,
} from "../core/tensor.ts";

/** Outputs of a network: an array, or a record by name, such as the result of ONNX Runtime's `session.run()`. */
export type Outputs = readonly TensorInput[] | { readonly [name: string]: TensorInput };

/** The slot of a tensor in the decoder's memory. */
export interface Slot {
  /** Memory for the tensor. If you write the tensor here, `decode()` without arguments copies nothing. f16 as bits. */
  readonly data: SlotArray;
  readonly dims: readonly number[];
  readonly type: ElementType;
}

/** The tensors that a plan reads, and the slots of these tensors. */
export interface Inputs {
  readonly tensors: readonly TensorSpec[];
  /** One view of memory per tensor. */
  readonly slots: readonly SlotArray[];
  /** Index of each tensor in the list of all outputs. A plan may ignore some outputs. */
  readonly places: readonly number[];
  /** Count of the network's outputs. */
  readonly outputs: number;
  /**
   * Name of each tensor in the array from which the plan was made. Null for a tensor without a name. If the whole list
   * is null, an array of `outputs` tensors is matched by index, whatever the names.
   */
  readonly ownNames: readonly (string | null)[] | null;
  /** Facts about each tensor that are known without its data. */
  readonly known: readonly KnownSpec[];
  /** For each tensor, the last stated `type` that was found to fit. Undefined before the first check. */
  readonly types: (string | null | undefined)[];
  /** Tensors of the current frame. Null between frames. The list is reused, so that a frame allocates nothing. */
  readonly given: (TensorInput | null)[];
}

export function inputsOf(
  buffer: ArrayBuffer,
  tensors: readonly TensorSpec[],
  addresses: readonly number[],
  about: Pick<Inputs, "places" | "outputs" | "ownNames" | "known">,
): Inputs {
  return {
    tensors,
    slots: tensors.map(({ type, dims }, i) => new ELEMENTS[type].array(buffer, addresses[i], volume(dims))),
    ...about,
    types: tensors.map(() => undefined),
    given: tensors.map(() => null),
  };
}

/** Returns the slots by tensor name, for users. */
export const slotsByName = ({ tensors, slots }: Inputs): { readonly [name: string]: Slot } =>
  Object.fromEntries(tensors.map(({ name, dims, type }, i) => [name, { data: slots[i], dims, type }]));

/** Returns the outputs of a call as a list or a record. A single tensor becomes a list of one. */
export function asOutputs(outputs: Outputs | TensorInput): Outputs {
  if (outputs === null || typeof outputs !== "object" || ArrayBuffer.isView(outputs))
    refuse("", show(outputs), "the outputs: an array or a record of {data, dims}");
  // Use `instanceof`: this runs for every frame, and `kindOf` would make a string.
  if (outputs instanceof Promise) refuse("", "a promise", "what it resolves to: await it");
  if (outputs instanceof Map)
    refuse("", "a Map", "an array or a record, as Object.fromEntries(map) makes of it");
  return "dims" in outputs && "data" in outputs && !Array.isArray(outputs)
    ? [outputs as TensorInput]
    : (outputs as Outputs);
}

/**
 * Finds the caller's tensor for each tensor of the plan, and stores it in `inputs.given`. Records are matched by name.
 * Arrays are matched by name if they contain the names of all planned tensors, else by index. Allocates nothing.
 * @returns false if a tensor is missing
 */
export function matchTensors(inputs: Inputs, outputs: Outputs): boolean {
  const { tensors, given, places, ownNames } = inputs;
  let isComplete = true;
  const byPlace = Array.isArray(outputs) && !hasAllNames(inputs, outputs);
  for (let i = 0; i < tensors.length; i++) {
    if (!Array.isArray(outputs)) {
      given[i] = (outputs as { readonly [name: string]: TensorInput })[tensors[i].name] ?? null;
    } else if (!byPlace) {
      given[i] = named(outputs, tensors[i].name, ownNames?.[i] ?? null);
    } else if (outputs.length === inputs.outputs) {
      const t = (outputs as readonly (TensorInput | null)[])[places[i]] ?? null;
      const isOther =
        ownNames !== null &&
        (t?.name ?? null) !== null &&
        !isNamed(t as TensorInput, tensors[i].name, ownNames[i]);
      given[i] = isOther ? null : t;
    } else given[i] = named(outputs, tensors[i].name, ownNames?.[i] ?? null);
    if (given[i] === null) isComplete = false;
    else checkLocation(tensors[i].name, given[i] as TensorInput);
  }
  return isComplete;
}

function hasAllNames({ tensors, ownNames }: Inputs, list: readonly (TensorInput | null)[]): boolean {
  for (let i = 0; i < tensors.length; i++)
    if (named(list, tensors[i].name, ownNames?.[i] ?? null) === null) return false;
  return true;
}

function named(
  list: readonly (TensorInput | null)[],
  name: string,
  ownName: string | null,
): TensorInput | null {
  for (let k = 0; k < list.length; k++) {
    const t = list[k] ?? null;
    if (t !== null && isNamed(t, name, ownName)) return t;
  }
  return null;
}

const isNamed = (t: TensorInput, name: string, ownName: string | null): boolean =>
  (t.name ?? null) !== null && (t.name === name || t.name === ownName);

/** Releases the caller's tensors, so that the garbage collector can free them between frames. */
export function forgetTensors({ given }: Inputs): void {
  given.fill(null);
}

/** True if the tensors in `inputs.given` fit the plan. Allocates nothing. */
export function fitTensors(inputs: Inputs): boolean {
  for (let i = 0; i < inputs.tensors.length; i++) {
    const t = inputs.given[i] as TensorInput;
    if (!isOrder(t.order ?? null, inputs.tensors[i].order) || !fits(inputs, i, t)) return false;
  }
  return true;
}

/** True if the frame states no storage order, or the same one as the plan. */
const isOrder = (given: string | null, order: string | null): boolean =>
  given === null || given === order || given.toLowerCase() === order?.toLowerCase();

function fits({ tensors, slots, known, types }: Inputs, i: number, t: TensorInput): boolean {
  const spec = tensors[i];
  const { dims } = t;
  if (!dims || dims.length !== spec.dims.length) return false;
  for (let k = 0; k < dims.length; k++) if (dims[k] !== spec.dims[k]) return false;
  if (t.data?.length !== slots[i].length) return false;
  const isPerChannel = Array.isArray(t.scale ?? known[i].scale);
  if (isFloat(spec)) {
    if (!isPerChannel && ((scaleOf(t.scale) ?? 1) !== 1 || (t.zeroPoint ?? 0) !== 0)) return false;
  } else if (
    !isSame(scaleOf(t.scale) ?? scaleOf(known[i].scale), spec.scale) ||
    !isSame(t.zeroPoint ?? known[i].zeroPoint ?? 0, spec.zeroPoint)
  )
    return false;
  // A new array class or a new spelling of the type may mean another element type. Resolve the type only then, because
  // that takes longer.
  if (isPerChannel || t.data.constructor !== slots[i].constructor || t.type !== types[i]) {
    if (specOf(spec.name, t, isPerChannel ? known[i] : { type: known[i].type }).type !== spec.type)
      return false;
    types[i] = t.type;
  }
  return true;
}

/** True if a scale or zero point equals the value in memory, which is an f32. */
const isSame = (x: KnownSpec["scale"], expected: number | null): boolean =>
  x === expected ||
  (typeof x === "number" && x !== 0 && expected !== null && Math.fround(x) === Math.fround(expected));

/** Throws if an element of tensor `i` does not fit its slot: a fraction, a number out of range, or not a number. */
export function checkElements({ tensors, slots }: Inputs, i: number, data: TensorInput["data"]): void {
  const isList = Array.isArray(data);
  if (!isList && (!(slots[i] instanceof Int32Array) || data instanceof Int32Array)) return;
  const { name, type } = tensors[i];
  const isWhole = !isFloat(tensors[i]);
  const { low, high } = ELEMENTS[type];
  // Largest allowed integer. `| 1` adds 1 to the `high` of i32, which is 1 too small (see ELEMENTS). The `high` of all
  // other integer types is odd.
  const last = high | 1;
  for (let k = 0; k < data.length; k++) {
    const x: unknown = data[k];
    const n = Number(x);
    if ((isList && typeof x !== "number") || (isWhole && ((n | 0) !== n || n < low || n > last)))
      refuse(
        `tensor "${name}"`,
        `${String(x)} as element ${k}`,
        isWhole ? `a whole number of ${type}, ${low}..${last}` : "a number",
      );
  }
}

/** True if the caller's array is the slot itself. */
export function isSlot(slot: SlotArray, data: TensorInput["data"]): boolean {
  const { buffer, byteOffset } = data as Float32Array;
  return buffer === slot.buffer && byteOffset === slot.byteOffset;
}

/** Copies the tensors in `inputs.given` into their slots. If one is refused, copies none. */
export function copyTensors(inputs: Inputs): void {
  const { given, slots } = inputs;
  for (let i = 0; i < slots.length; i++) checkElements(inputs, i, (given[i] as TensorInput).data);
  for (let i = 0; i < slots.length; i++) copyInto(inputs, i, given[i] as TensorInput);
}

function copyInto({ slots, tensors, known }: Inputs, i: number, t: TensorInput): void {
  const slot = slots[i];
  const { data } = t;
  const from = data as Float32Array;
  const spec = Array.isArray(t.scale ?? known[i].scale) ? specOf(tensors[i].name, t, known[i]) : null;
  if (spec?.channels) return dequantiseChannels(data, spec, slot as Float32Array);
  if (isSlot(slot, data)) return;
  if (from.constructor === slot.constructor) return slot.set(from);
  if (kindOf(data) === "Float16Array") slot.set(new Uint16Array(from.buffer, from.byteOffset, from.length));
  else if (slot instanceof Int32Array) for (let i = 0; i < from.length; i++) slot[i] = Number(from[i]);
  else slot.set(from);
}
