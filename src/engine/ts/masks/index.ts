/**
 * The engine in TypeScript for masks. Its files and functions are twins of those in `assembly/masks/`.
 *
 * Only here: tsMasksEngine. It passes the memory to the functions, while a kernel imports its memory.
 */
import type { MasksEngine } from "../../masks.ts";
import { cut } from "./cut.ts";
import { maskMemoryOf } from "./memory.ts";
import { paint } from "./paint.ts";
import { product } from "./product.ts";
import { resize } from "./resize.ts";

/** Returns an engine over this memory. */
export function tsMasksEngine(buffer: ArrayBuffer): MasksEngine {
  const memory = maskMemoryOf(buffer);
  return {
    name: "ts",
    buffer,
    product: (job) => product(memory, job),
    cut: (job) => cut(memory, job),
    resize: (job) => resize(memory, job),
    paint: (job) => paint(memory, job),
  };
}
