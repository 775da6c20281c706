/** Keeps the state of the playground in the address, without the files. */

/** What a link holds. */
export interface Link {
  readonly example?: string;
  readonly confidence?: number;
  readonly iou?: number;
  readonly resize?: string;
  readonly config?: string;
  readonly options?: string;
}

/** Returns the part of an address after "#". */
export function toHash(link: Link): string {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(link))
    if (value !== undefined && value !== "") words.set(key, String(value));
  return words.toString();
}

/** Reads the part of an address after "#". Values that make no sense are left out. */
export function fromHash(hash: string): Link {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const fraction = (key: string): number | undefined => {
    const value = Number(words.get(key) ?? NaN);
    return value >= 0 && value <= 1 ? value : undefined;
  };
  const text = (key: string): string | undefined => words.get(key) ?? undefined;
  return {
    example: text("example"),
    confidence: fraction("confidence"),
    iou: fraction("iou"),
    resize: text("resize"),
    config: text("config"),
    options: text("options"),
  };
}
