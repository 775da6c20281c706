/** The interface between a detector and a runtime. Each adapter in this folder implements it for one npm package. */
import type { Outputs, Slot } from "../decode/inputs.ts";
import { OWN_INPUTS, type OwnInput } from "../decode/prepare.ts";
import { refuse } from "../core/errors.ts";
import { type SlotArray, show, volume } from "../core/tensor.ts";

/** Element types of an input tensor for pictures. An f16 tensor is a Uint16Array of its bits. */
export type InputType = "f32" | "f16" | "u8" | "i8";

/** An input or output of a network, as its runtime states it. */
export interface SessionTensor {
  readonly name: string;
  /** Sizes of the dimensions. A string or `null` is an open size. `null` if the runtime states no dimensions. */
  readonly dims: readonly (number | string | null)[] | null;
  /** Element type: "float32", "uint8", ... `null` if the runtime states none. */
  readonly type: string | null;
}

/** The input tensor for the picture of each frame. */
export interface InputSpec {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: InputType;
  /** Values of the network's other inputs, the same for each frame. Absent if the network has one input. */
  readonly constants?: readonly ConstantInput[];
}

/** A network input for the picture's size: two numbers, the same for each frame. */
export interface ConstantInput {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: "float32" | "int32" | "int64";
  readonly data: Float32Array | Int32Array | BigInt64Array;
}

/** The decoder's slots, by output name. */
export type Slots = { readonly [name: string]: Slot };

/** The runtime's memory for one frame. With two lanes, one frame is prepared while another runs. */
export interface Lane {
  /** Returns the memory of the input. Called before each frame, since a runtime may move this memory. */
  input(): SlotArray;
  /**
   * Runs the network on the input.
   * @param slots memory of the decoder to which the runtime may write the outputs; `null` while the decoder works
   * @returns outputs, valid until `release`; `null` if they were written to the slots
   */
  run(slots: Slots | null): Promise<Outputs | null>;
  /** Frees the outputs of `run` after they are decoded. Called once per run. */
  release(): void;
  /** Frees the memory of the lane. */
  close(): void;
}

/** A network that a runtime opened. Applications may bring their own. */
export interface Session {
  /** Inputs of the network. */
  readonly inputs: readonly SessionTensor[];
  /** True if a frame can be decoded while the next runs: a run neither blocks the thread nor moves earlier outputs. */
  readonly overlaps: boolean;
  /** True if lanes feed `InputSpec.constants` to the network. If not, networks with a second input are refused. */
  readonly feedsConstants?: boolean;
  /** Makes the memory for one frame. */
  createLane(input: InputSpec): Lane;
  /** Frees the network. */
  close(): void | Promise<void>;
}

/** A runtime that opens networks, from a file's bytes or from the runtime's own object for an opened network. */
export interface Runtime<Source> {
  /** Name of the runtime in error messages. */
  readonly name: string;
  /** Opens a network. */
  open(model: Source): Promise<Session>;
}

const ARRAYS = { f32: Float32Array, f16: Uint16Array, u8: Uint8Array, i8: Int8Array } as const;

/** Returns a new array for an input, outside the runtime's memory. */
export function arrayFor({ dims, type }: InputSpec): InstanceType<(typeof ARRAYS)[InputType]> {
  return new ARRAYS[type](volume(dims));
}

/** Returns an input outside of the runtime's memory. The decoder may replace `data` by another array between frames. */
export function ownInput(spec: InputSpec): OwnInput {
  const own = { data: arrayFor(spec), padding: null };
  OWN_INPUTS.set(own.data, own);
  return own;
}

/** Returns a view of an input in the memory of a runtime. */
export function viewOf(buffer: ArrayBuffer, at: number, { dims, type }: InputSpec): SlotArray {
  const length = volume(dims);
  return new ARRAYS[type](buffer, at, length);
}

/**
 * Throws a TensorError if the runtime's module is missing, or if the caller passed the module's namespace in place of
 * its default export.
 * @param adapter name of the adapter
 * @param member a member that the module has
 */
export function checkModule(adapter: string, given: unknown, member: string): void {
  const isModule = (value: unknown): boolean =>
    typeof value === "object" && value !== null && (value as Record<string, unknown>)[member] !== undefined;
  if (typeof given !== "object" || given === null)
    refuse(adapter, show(given), `the runtime, which has ${member}: import it, and await what is a promise`);
  const { default: inner, then } = given as { readonly default?: unknown; readonly then?: unknown };
  if (typeof then === "function") refuse(adapter, "a promise", "what it resolves to: await it");
  if (!isModule(given) && !isModule(inner))
    refuse(
      adapter,
      `${show(given)} without ${member}`,
      `the runtime itself, which has ${member}. A network that is open already is the model: { model, runtime, config }`,
    );
  if (!isModule(given) && isModule(inner))
    refuse(adapter, `a module without ${member}`, `its default export, which has ${member}`);
}
