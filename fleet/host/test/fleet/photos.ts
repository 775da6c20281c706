/** Photos of coloured things at known places. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { colourPng } from "../support/pixels.ts";

/** A coloured thing: its class is its channel. Edges are in pixels of the photo. */
export interface Thing {
  readonly channel: 0 | 1 | 2;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Photo {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly things: readonly Thing[];
}

const SIZES = [
  [640, 480],
  [320, 320],
  [480, 640],
  [501, 333],
  [1280, 720],
  [97, 250],
] as const;

/** Returns a source of whole numbers below a limit, the same ones in each run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Photo `n` has up to three things, each in a third of its own, so that none hides another. */
function describePhoto(n: number, next: (limit: number) => number): Photo {
  const [width, height] = SIZES[n % SIZES.length]!;
  const third = Math.floor(width / 3);
  const things = ([0, 1, 2] as const)
    .filter((channel) => n % 7 !== channel + 1)
    .map((channel) => {
      const left = channel * third + 2 + next(Math.floor(third / 4));
      const top = 2 + next(Math.floor(height / 3));
      const right = left + Math.floor(third / 3) + next(Math.floor(third / 4));
      const bottom = top + Math.floor(height / 5) + next(Math.floor(height / 3));
      return { channel, left, top, right, bottom };
    });
  return { name: `photo-${String(n).padStart(2, "0")}.png`, width, height, things };
}

/** Returns the pixels: noise that is dark in all channels, and things that are bright in one. */
function draw({ width, height, things }: Photo, next: (limit: number) => number): Uint8Array {
  const pixels = new Uint8Array(width * height * 3);
  for (let i = 0; i < pixels.length; i++) pixels[i] = 20 + next(60);
  for (const { channel, left, top, right, bottom } of things) {
    const bright = 205 + next(45);
    for (let y = top; y < bottom; y++)
      for (let x = left; x < right; x++) pixels[(y * width + x) * 3 + channel] = bright;
  }
  return pixels;
}

/** Writes photos into a folder. The last one has one thing, well away from its edges. */
export function writePhotos(folder: string, count: number): Photo[] {
  const next = numbers(41);
  const photos = Array.from({ length: count - 1 }, (_, n) => describePhoto(n, next));
  const thing = { channel: 2, left: 210, top: 140, right: 450, bottom: 390 } as const;
  photos.push({ name: "zz-last.png", width: 640, height: 480, things: [thing] });
  for (const photo of photos)
    writeFileSync(join(folder, photo.name), colourPng(photo.width, photo.height, draw(photo, next)));
  return photos;
}
