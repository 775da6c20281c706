/** Detects the format of a tensor file by its bytes. The site uses this file in pages, without node:zlib. */
import { TensorError } from "../../core/errors.ts";
import { PLAN_MAGIC } from "../../planfile/format.ts";
import { isNpy, parseNpy } from "./npy.ts";
import { isZip, parseNpz } from "./npz.ts";
import { readSafetensors } from "./safetensors.ts";
import { type NamedTensor, checkBytes, refusal } from "./tensor.ts";

/** First byte of a safetensors header, "{". The header follows the 8 bytes of its length. */
const BRACE = 0x7b;

/**
 * Returns the tensors in a `.npy`, `.npz` or `.safetensors` file. The bytes show the format.
 * @param name name of the file, for error messages and for the single tensor of a `.npy` file
 * @throws TensorError if the bytes have another format, or are damaged. A `.bin` file needs its JSON: use `readTensors`
 * @example
 * import { readFileSync } from "node:fs";
 * import { parseTensors } from "boxwright/node";
 *
 * const [tensor] = parseTensors(readFileSync("test/fixtures/files/c.npy"), "c.npy");
 * console.log(tensor.name, tensor.type, tensor.dims.join("x")); // c f32 2x3x4
 */
export function parseTensors(bytes: Uint8Array, name: string): NamedTensor[] {
  checkBytes(bytes, name);
  checkNotPlan(bytes, name);
  if (isNpy(bytes)) return [parseNpy(bytes, tensorName(name), name)];
  if (isZip(bytes)) return parseZip(bytes, name);
  // Check for the brace. Else an error would report the first 8 bytes of another format as an absurd header length.
  if (bytes[LENGTH_BYTES] !== BRACE && !/\.safetensors$/i.test(name))
    throw refusal(name, beginningOf(bytes), ".npy, .npz, .safetensors, or .bin with a JSON beside it");
  return readSafetensors(bytes, name).tensors;
}

const LENGTH_BYTES = 8;

/** Throws if the file is a plan. Plans also have names in `.bin`, like raw tensors, or are passed as configs. */
export function checkNotPlan(bytes: Uint8Array, path: string): void {
  if (bytes.length < 4 || new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) !== PLAN_MAGIC)
    return;
  throw new TensorError(
    `${path} is a plan file, and plans are for loadPlan of boxwright/plan. Pass tensors, or the ` +
      "config that the plan was compiled from.",
  );
}

/** Reads the arrays in a zip. Refuses other zips, such as PyTorch checkpoints. */
function parseZip(bytes: Uint8Array, name: string): NamedTensor[] {
  const tensors = parseNpz(bytes, name);
  if (tensors.length === 0) throw refusal(name, "a zip without a .npy file in it", "an .npz file");
  return tensors;
}

const beginningOf = (bytes: Uint8Array): string =>
  bytes.length === 0
    ? "an empty file"
    : `a file that begins with ${Array.from(bytes.subarray(0, 8), (b) => b.toString(16).padStart(2, "0")).join(" ")}`;

const tensorName = (path: string): string =>
  path
    .replace(/^.*[\\/](?=[^\\/])/s, "")
    .replace(/\.gz$/i, "")
    .replace(/\.npy$/i, "");
