/** Stands in for binary.ts in entries without a binary: the caller hands the kernels over with `provideKernel`. */
export function kernelBinary(): null {
  return null;
}
