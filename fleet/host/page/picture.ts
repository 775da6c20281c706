/** Draws a camera's picture and the boxes of the same frame. */
import { drawCanvas } from "boxwright";
import type { Picture } from "./types.ts";

/**
 * Draws picture and boxes on one canvas of the picture's own pixels. The style sheet scales the canvas as a whole, so a
 * box cannot leave its place on the picture, whatever size the canvas is shown at.
 * @param isWanted is asked once the picture is there: a newer one may have come meanwhile
 */
export async function drawPicture(
  canvas: HTMLCanvasElement,
  key: string,
  picture: Picture,
  isWanted: () => boolean,
): Promise<void> {
  // The browser turns a photo upright by its EXIF data, and its size is the one that counts.
  const image = picture.preview === null ? null : await load(`/pictures/${key}?number=${picture.preview}`);
  try {
    if (!isWanted()) return;
    canvas.width = image?.width ?? picture.width;
    canvas.height = image?.height ?? picture.height;
    const context = canvas.getContext("2d");
    if (!context) return;
    if (image) context.drawImage(image, 0, 0);
    if (picture.detections) drawCanvas(context, picture.detections);
  } finally {
    image?.close();
  }
}

/**
 * Loads a picture whose memory ends with `close`. An <img> for each stays in the caches of the browser, decoded:
 * 16 cameras filled 0.9 GB in some minutes.
 */
async function load(address: string): Promise<ImageBitmap> {
  const answer = await fetch(address, { cache: "no-store" });
  if (!answer.ok) throw new Error(`got ${answer.status} for ${address}, expected a picture`);
  return createImageBitmap(await answer.blob());
}
