/** Stands in for masks-binary.ts in entries without a binary. */
export function masksBinary(): null {
  return null;
}
