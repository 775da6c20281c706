/** The letterbox as people write it in JavaScript, from the pixels of a canvas. */
import type { PictureSpec } from "./picture.ts";

/** Resizes bilinearly in doubles. Returns the tensor: planes of 0..1. */
export function letterbox(pixels: Uint8Array, { width, height, side }: PictureSpec): Float32Array {
  const scale = Math.min(side / width, side / height);
  const w = Math.round(width * scale);
  const h = Math.round(height * scale);
  const left = Math.floor((side - w) / 2);
  const top = Math.floor((side - h) / 2);
  const plane = side * side;
  const tensor = new Float32Array(3 * plane).fill(114 / 255);
  for (let y = 0; y < h; y++) {
    const sourceY = Math.max(0, (y + 0.5) / scale - 0.5);
    const y0 = Math.floor(sourceY);
    const y1 = Math.min(y0 + 1, height - 1);
    const fy = sourceY - y0;
    for (let x = 0; x < w; x++) {
      const sourceX = Math.max(0, (x + 0.5) / scale - 0.5);
      const x0 = Math.floor(sourceX);
      const x1 = Math.min(x0 + 1, width - 1);
      const fx = sourceX - x0;
      for (let c = 0; c < 3; c++) {
        const upper = pixels[4 * (y0 * width + x0) + c] * (1 - fx) + pixels[4 * (y0 * width + x1) + c] * fx;
        const lower = pixels[4 * (y1 * width + x0) + c] * (1 - fx) + pixels[4 * (y1 * width + x1) + c] * fx;
        tensor[c * plane + (y + top) * side + x + left] = (upper * (1 - fy) + lower * fy) / 255;
      }
    }
  }
  return tensor;
}

/** Resizes by the nearest pixel. Returns the tensor: planes of 0..1. */
export function nearest(pixels: Uint8Array, { width, height, side }: PictureSpec): Float32Array {
  const scale = Math.min(side / width, side / height);
  const w = Math.round(width * scale);
  const h = Math.round(height * scale);
  const left = Math.floor((side - w) / 2);
  const top = Math.floor((side - h) / 2);
  const plane = side * side;
  const tensor = new Float32Array(3 * plane).fill(114 / 255);
  for (let y = 0; y < h; y++)
    for (let x = 0; x < w; x++) {
      const from = 4 * (Math.floor(y / scale) * width + Math.floor(x / scale));
      const to = (y + top) * side + x + left;
      tensor[to] = pixels[from] / 255;
      tensor[to + plane] = pixels[from + 1] / 255;
      tensor[to + 2 * plane] = pixels[from + 2] / 255;
    }
  return tensor;
}
