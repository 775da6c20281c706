/** Stands in for prepare-binary.ts in entries without a binary. */
export function prepareBinary(): null {
  return null;
}
