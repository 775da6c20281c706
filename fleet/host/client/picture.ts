/** Draws a camera's picture and the boxes of the same frame. */
import { drawCanvas } from "boxwright";
import type { Picture } from "./types.ts";

/**
 * Draws picture and boxes on one canvas of the picture's own pixels. The style sheet scales the canvas as a whole, so a
 * box cannot leave its place on the picture, whatever size the canvas is shown at.
 */
export async function drawPicture(canvas: HTMLCanvasElement, key: string, picture: Picture): Promise<void> {
  const image = picture.preview === null ? null : await load(`/pictures/${key}?number=${picture.preview}`);
  // The browser turns a photo upright by its EXIF data, and its size is the one that counts.
  canvas.width = image?.naturalWidth ?? picture.width;
  canvas.height = image?.naturalHeight ?? picture.height;
  const context = canvas.getContext("2d");
  if (!context) return;
  if (image) context.drawImage(image, 0, 0);
  if (picture.detections) drawCanvas(context, picture.detections);
}

async function load(address: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = address;
  await image.decode();
  return image;
}
