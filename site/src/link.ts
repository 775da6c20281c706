/** Keeps the state of the playground in the address, without the files. */

/** Settings in a link: inputs of the playground with the same names. */
export interface Link {
  readonly example?: string;
  readonly confidence?: number;
  readonly iou?: number;
  readonly resize?: string;
  readonly configText?: string;
  readonly optionsText?: string;
}

/** Returns the part of an address after "#". */
export function toHash({ example, confidence, iou, resize, configText, optionsText }: Link): string {
  const params = new URLSearchParams();
  const settings = { example, confidence, iou, resize, config: configText, options: optionsText };
  for (const [key, value] of Object.entries(settings))
    if (value !== undefined && value !== "") params.set(key, String(value));
  return params.toString();
}

/** Reads the part of an address after "#". Ignores invalid values. */
export function fromHash(hash: string): Link {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const fraction = (key: string): number | undefined => {
    const value = Number(params.get(key) ?? NaN);
    return value >= 0 && value <= 1 ? value : undefined;
  };
  const text = (key: string): string | undefined => params.get(key) ?? undefined;
  return {
    example: text("example"),
    confidence: fraction("confidence"),
    iou: fraction("iou"),
    resize: text("resize"),
    configText: text("config"),
    optionsText: text("options"),
  };
}
