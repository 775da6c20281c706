/** Reads recordings of test/fixtures, plain or gzipped, and makes a plain background for tensors without a photo. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Returns the bytes of a file or of its gzipped copy, in separate memory. */
export function readBytes(...path) {
  const file = join(...path);
  return Uint8Array.from(existsSync(file) ? readFileSync(file) : gunzipSync(readFileSync(`${file}.gz`)));
}

export const readJson = (...path) => JSON.parse(new TextDecoder().decode(readBytes(...path)));

/**
 * Returns tensors by name, as arguments for `decode`.
 * @param outputs names, files and shapes, as in meta.json
 */
export function readOutputs(folder, outputs) {
  const tensorOf = ({ file, dtype, shape }) => {
    const { buffer } = readBytes(folder, file);
    return dtype === "float16"
      ? { data: new Uint16Array(buffer), dims: shape, type: "f16" }
      : { data: new Float32Array(buffer), dims: shape };
  };
  return Object.fromEntries(outputs.map((output) => [output.name, tensorOf(output)]));
}

/** Returns the module of pngjs, a development package. */
async function loadPng() {
  return (await import("pngjs")).default.PNG;
}

/** Returns { data, width, height }: RGBA bytes of a PNG. */
export async function readPng(...path) {
  const PNG = await loadPng();
  return PNG.sync.read(readFileSync(join(...path)));
}

/**
 * Returns a PNG.
 * @param colourOf returns red, green and blue at x, y, each 0..255
 */
export async function pngOf(width, height, colourOf) {
  const PNG = await loadPng();
  const png = new PNG({ width, height });
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) png.data.set([...colourOf(x, y), 255], (y * width + x) * 4);
  return Uint8Array.from(PNG.sync.write(png));
}

/** Returns a grey PNG. */
export const plainGround = (width, height) => pngOf(width, height, () => [58, 62, 68]);
