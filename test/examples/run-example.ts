/**
 * Runs programs of examples/ as processes of their own, and makes photos for them. They run with the package as built,
 * or in the folder that BOXWRIGHT_EXAMPLES names: packed.mjs installs the packed tarball there.
 */
import { execFile } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PNG } from "pngjs";
import { type Row, HEIGHT, WIDTH, pictureOf } from "../support/echo-network.ts";

/** The folder where the packed tarball is installed, or undefined. */
export const packed = process.env["BOXWRIGHT_EXAMPLES"];

const folder =
  packed === undefined ? new URL("../../examples/", import.meta.url) : pathToFileURL(`${packed}/`);

export const exampleUrl = (name: string): URL => new URL(name, folder);

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `node examples/NAME WORDS...` to its end. */
export function runExample(name: string, ...words: string[]): Promise<Ended> {
  const path = fileURLToPath(exampleUrl(name));
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [path, ...words], { maxBuffer: 2 ** 26 }, (error, out, err) => {
      const code = error === null ? 0 : error.code;
      // A process that did not start, or was killed, has no exit code.
      if (typeof code === "number") resolve({ code, out, err });
      else reject(error ?? new Error(`${name}: no exit code`));
    });
  });
}

/** Returns an opaque PNG that states these detections to a network of that layout. */
export function pngOf(rows: readonly Row[], layout?: "NCHW" | "NHWC"): Buffer {
  const png = new PNG({ width: WIDTH, height: HEIGHT });
  const { data } = pictureOf(rows, layout);
  png.data = Buffer.from(data);
  for (let i = 3; i < png.data.length; i += 4) png.data[i] = 255;
  return PNG.sync.write(png);
}
