import type { EngineName } from "../core/engine-name.ts";

/** The functions of the kernel over one memory. `job` is the byte address of a job (see core/prepare-abi.ts). */
export interface PrepareKernelExports {
  /** Makes pixels of the source rows. */
  unpack(job: number): void;
  /** Makes the pixels of the tensor's rows. */
  resample(job: number): void;
  /** Makes tensor elements of these pixels. */
  emit(job: number): void;
  /** Runs `unpack`, `resample` and `emit` in this order. */
  prepare(job: number): void;
}

/** An engine and its memory. */
export interface PrepareEngine extends PrepareKernelExports {
  readonly name: EngineName;
  readonly buffer: ArrayBuffer;
}
