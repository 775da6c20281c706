/**
 * The engine in TypeScript for pictures. Its files and functions are twins of those in `assembly/prepare/`.
 *
 * Only here: tsPrepareEngine. It passes the memory to the functions, while a kernel imports its memory.
 */
import type { PrepareEngine } from "../../prepare.ts";
import { emit } from "./emit.ts";
import { pixelMemoryOf, type PixelMemory } from "./memory.ts";
import { resample } from "./resample.ts";
import { unpack } from "./unpack.ts";

/** Returns an engine over this memory. */
export function tsPrepareEngine(buffer: ArrayBuffer): PrepareEngine {
  const memory = pixelMemoryOf(buffer);
  return {
    name: "ts",
    buffer,
    unpack: (job) => unpack(memory, job),
    resample: (job) => resample(memory, job),
    emit: (job) => emit(memory, job),
    prepare: (job) => prepare(memory, job),
  };
}

/** Makes the rows of the tensor. */
function prepare(m: PixelMemory, job: number): void {
  unpack(m, job);
  resample(m, job);
  emit(m, job);
}
