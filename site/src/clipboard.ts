/** Copies a text. Returns the message for the visitor: `copied`, or `refused` if the browser forbids copying. */
export async function copyText(
  text: string,
  copied: string,
  refused = "The browser does not let this page write to the clipboard. Select the text instead.",
): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return copied;
  } catch {
    return refused;
  }
}
