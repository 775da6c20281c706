/**
 * Makes and reads a link with a picture and its boxes. The picture follows the "#" of the address, which browsers never
 * send to a server.
 */

/**
 * Longest side of a shared picture in pixels. 640 pixels make an address of about 60 kB, which every browser accepts.
 */
const LONGEST = 640;
const QUALITY = 0.72;
const BEGINNING = "data:image/jpeg;base64,";

/** A picture from the address. */
export interface Shared {
  /** A `data:` address of a JPEG. */
  readonly image: string;
  readonly summary: string;
}

/** Draws canvases on top of each other, and returns the part of an address after "#". */
export function toPictureHash(layers: readonly HTMLCanvasElement[], summary: string): string {
  const [{ width, height }] = layers;
  const scale = Math.min(1, LONGEST / Math.max(width, height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  const context = canvas.getContext("2d")!;
  for (const layer of layers) context.drawImage(layer, 0, 0, canvas.width, canvas.height);
  const picture = canvas.toDataURL("image/jpeg", QUALITY).slice(BEGINNING.length);
  return new URLSearchParams({ says: summary, picture }).toString();
}

/** Returns the picture in an address, or null. */
export function fromPictureHash(hash: string): Shared | null {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const picture = params.get("picture");
  if (picture === null || !/^[A-Za-z0-9+/]+=*$/.test(picture)) return null;
  return { image: BEGINNING + picture, summary: params.get("says") ?? "" };
}
