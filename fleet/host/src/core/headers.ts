/** Returns the text of a percent-encoded header; undefined if the encoding is invalid. */
export function decodeHeader(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
