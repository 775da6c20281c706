/** Converts a frame to a message: plain data in memory that can be transferred. */
import { TensorError, isRefusal, mismatch, refuse } from "../core/errors.ts";
import { type TensorInput, isDetached, show } from "../core/tensor.ts";
import type { Frame } from "../decode/frame.ts";
import { type Outputs, asOutputs } from "../decode/inputs.ts";
import type { Work } from "./protocol.ts";

/**
 * Returns a frame as plain data: a message cannot carry objects with methods, such as a runtime's tensors. Copies the
 * fields unchecked, since the decoder in the thread checks the tensors.
 */
export function workOf(given: Uint8Array | Outputs, frame: Frame | undefined): Work {
  if (ArrayBuffer.isView(given)) {
    if (given.BYTES_PER_ELEMENT !== 1) refuse("frame", show(given), "a Uint8Array with a packet, or outputs");
    return checkMemory({ bytes: given as Uint8Array });
  }
  const outputs = asOutputs(given);
  const list = Array.isArray(outputs)
    ? (outputs as readonly (TensorInput | null)[]).map((t) => [t?.name, t] as const)
    : Object.entries(outputs as { readonly [name: string]: TensorInput | null });
  const tensors = list.map(([name, t]) => {
    if (typeof t !== "object" || t === null) refuse(`tensor "${name ?? ""}"`, show(t), "{data, dims}");
    const { data, dims, type, scale, zeroPoint, axis, order } = t;
    const fields = { name, data, dims, type, scale, zeroPoint, axis, order };
    return Object.fromEntries(
      Object.entries(fields).filter(([, value]) => value !== undefined),
    ) as unknown as TensorInput;
  });
  return checkMemory({ tensors, ...(frame === undefined ? {} : { frame }) });
}

/** Throws if an array of the frame is empty because its memory was transferred to a thread before. */
export function checkMemory(work: Work): Work {
  if ("bytes" in work) refuseDetached("packet", work.bytes);
  else for (const { name, data } of work.tensors) refuseDetached(`tensor "${name ?? ""}"`, data);
  return work;
}

function refuseDetached(where: string, data: unknown): void {
  if (isDetached(data))
    refuse(
      where,
      "an array whose memory was transferred before",
      "memory that is the caller's: result.bytes and result.tensors give it back",
    );
}

/** Returns the frame, with a copy of each array that is a part of its buffer: only whole buffers are transferred. */
export function owned(work: Work): { readonly work: Work; readonly copied: boolean } {
  let copied = false;
  const own = <T extends Uint8Array>(data: T): T => {
    if (
      !ArrayBuffer.isView(data) ||
      !(data.buffer instanceof ArrayBuffer) ||
      data.byteLength === data.buffer.byteLength
    )
      return data;
    copied = true;
    return data.slice() as T;
  };
  const arrays =
    "bytes" in work
      ? { bytes: own(new Uint8Array(work.bytes.buffer, work.bytes.byteOffset, work.bytes.byteLength)) }
      : { ...work, tensors: work.tensors.map((t) => ({ ...t, data: own(t.data as Uint8Array) })) };
  return { work: arrays, copied };
}

/** Returns an error about a message that could not be sent, with advice that the error of `postMessage` lacks. */
export const uncloned = (where: string, error: Error): Error =>
  isRefusal(error)
    ? error
    : new TensorError(
        `${where}: ` +
          mismatch(
            `what no thread can take (${error.message})`,
            "plain data in memory that can be transferred: copy what lies in a WebAssembly memory",
          ),
        { cause: error },
      );
