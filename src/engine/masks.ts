import type { EngineName } from "../core/engine-name.ts";

/** The functions of the kernel over one memory. `job` is the byte address of a job (see core/masks-abi.ts). */
export interface MasksKernelExports {
  /** Writes the logits of a window of prototype pixels. */
  product(job: number): void;
  /** Compares the logits of the window with the threshold. */
  cut(job: number): void;
  /** Resizes logits and compares the result with the threshold. */
  resize(job: number): void;
  /** Writes the index of a detection into the label map, at each pixel where its mask is set. */
  paint(job: number): void;
}

/** An engine and its memory. */
export interface MasksEngine extends MasksKernelExports {
  readonly name: EngineName;
  readonly buffer: ArrayBuffer;
}
