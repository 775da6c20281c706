/** Plan files with every task, and forged ones. */
import { crc32 } from "../../src/core/crc32.ts";
import type { DecoderOptions, TypedOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { masks } from "../../src/planfile/masks.ts";
import { oriented } from "../../src/planfile/oriented.ts";
import { peaks } from "../../src/planfile/peaks.ts";
import { pose } from "../../src/planfile/pose.ts";
import * as F from "../../src/planfile/format.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import {
  type LoadOptions,
  type PlanDecoder,
  loadPlan as load,
  loadPlanSync as loadSync,
} from "../../src/planfile/decoder.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const tasks = [pose, masks, oriented, peaks];

export const loadPlan = (bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): Promise<PlanDecoder> =>
  load(bytes, { tasks, ...options });

export const loadPlanSync = (bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): PlanDecoder =>
  loadSync(bytes, { tasks, ...options });

/** Compiles a plan for tensors of these shapes. */
export function compileFor(
  typed: TypedOptions,
  options: DecoderOptions,
  tensors: Readonly<Record<string, TensorInput>>,
): Bytes {
  const outputs = Object.entries(tensors).map(([name, { data: _, ...spec }]) => ({ name, ...spec }));
  return compilePlan(typed, { ...options, outputs }).bytes;
}

/** Returns a plan file of which one word is another. Its checksum is right. */
export function forge(file: Bytes, index: number, value: number): Bytes {
  const forged = file.slice();
  const words = new Uint32Array(forged.buffer);
  words[index] = value;
  words[F.F_CHECK] = crc32(forged.subarray(F.F_FILE_BYTES * 4));
  return forged;
}
