/** The functions that a detector needs of a runtime. Each adapter here makes them from a package of the user's. */
import type { Outputs, Slot } from "../decode/inputs.ts";
import { OWN_INPUTS, type OwnInput } from "../decode/prepare.ts";
import { refuse } from "../core/errors.ts";
import { type SlotArray, show } from "../core/tensor.ts";

/** Element types that a picture can have. f16 stands as bits in a Uint16Array. */
export type InputType = "f32" | "f16" | "u8" | "i8";

/** An input or output of a network, as its runtime states it. */
export interface SessionTensor {
  readonly name: string;
  /** A name or `null` stands for a size that is open. `null`: the runtime states no dims. */
  readonly dims: readonly (number | string | null)[] | null;
  /** "float32", "uint8", ... `null`: the runtime states no type. */
  readonly type: string | null;
}

/** The input tensor of a frame. */
export interface InputSpec {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: InputType;
  /** Values of the network's other inputs, the same with every frame. Absent: the network has one input. */
  readonly constants?: readonly ConstantInput[];
}

/** An input besides the picture, the same for every frame: a pair of numbers that tells the picture's size. */
export interface ConstantInput {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: "float32" | "int32" | "int64";
  readonly data: Float32Array | Int32Array | BigInt64Array;
}

/** The decoder's slots, by the name of the output. */
export type Slots = { readonly [name: string]: Slot };

/** Memory for one frame under way. A detector has two, so that a frame is prepared and decoded while another runs. */
export interface Lane {
  /** Returns the memory of the input. Asked for before each frame: a runtime may move it. */
  input(): SlotArray;
  /**
   * Runs the network.
   * @param slots memory of the decoder that a runtime may write the outputs to; `null` if the decoder is at work
   * @returns outputs, which stand until `release`; `null` if they were written to the slots
   */
  run(slots: Slots | null): Promise<Outputs | null>;
  /** Frees the outputs of `run`. Called when they are decoded. */
  release(): void;
  /** Frees the memory of the lane. */
  close(): void;
}

/** A network that a runtime opened. Applications may bring their own. */
export interface Session {
  /** Inputs of the network. */
  readonly inputs: readonly SessionTensor[];
  /**
   * True if a frame can be decoded while the next one runs. False if runs block the thread, or overwrite or move the
   * outputs of the one before.
   */
  readonly overlaps: boolean;
  /** True if its lanes feed `InputSpec.constants`. Default: networks with a second input are refused. */
  readonly feedsConstants?: boolean;
  /** Makes the memory for one frame under way. */
  createLane(input: InputSpec): Lane;
  /** Frees the network. */
  close(): void | Promise<void>;
}

/** Opens a network: from the bytes of a file, or from an object that the runtime made of the file. */
export interface Runtime<Source> {
  /** Name of the runtime in error messages. */
  readonly name: string;
  /** Opens a network. */
  open(model: Source): Promise<Session>;
}

const ARRAYS = { f32: Float32Array, f16: Uint16Array, u8: Uint8Array, i8: Int8Array } as const;

/** Returns memory for an input, outside of the runtime. */
export function arrayFor({ dims, type }: InputSpec): InstanceType<(typeof ARRAYS)[InputType]> {
  return new ARRAYS[type](dims.reduce((product, size) => product * size, 1));
}

/** Returns an input outside of the runtime, which only reads it. Its `data` may be another array after each frame. */
export function ownInput(spec: InputSpec): OwnInput {
  const own = { data: arrayFor(spec), padding: null };
  OWN_INPUTS.set(own.data, own);
  return own;
}

/** Returns a view of an input in the memory of a runtime. */
export function viewOf(buffer: ArrayBuffer, at: number, { dims, type }: InputSpec): SlotArray {
  const length = dims.reduce((product, size) => product * size, 1);
  return new ARRAYS[type](buffer, at, length);
}

/**
 * Throws a TensorError for nothing in place of a runtime's module, and for a module whose default export is meant.
 * @param adapter name of the adapter
 * @param member a member of the module
 */
export function checkModule(adapter: string, given: unknown, member: string): void {
  const isModule = (value: unknown): boolean =>
    typeof value === "object" && value !== null && (value as Record<string, unknown>)[member] !== undefined;
  if (typeof given !== "object" || given === null)
    refuse(adapter, show(given), `the runtime, which has ${member}: import it, and await what is a promise`);
  const { default: inner, then } = given as { readonly default?: unknown; readonly then?: unknown };
  if (typeof then === "function") refuse(adapter, "a promise", "what it resolves to: await it");
  if (!isModule(given) && isModule(inner))
    refuse(adapter, `a module without ${member}`, `its default export, which has ${member}`);
}
