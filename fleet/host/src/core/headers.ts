/** Returns the text of a percent-encoded header; undefined if it is not encoded well. */
export function decodeHeader(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
