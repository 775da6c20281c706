/** Reads the options about the photo that the network saw. */
import type { Frame } from "../../decode/frame.ts";
import { imageInfo } from "../../picture/image-info.ts";
import { UsageError, type Values } from "./options.ts";
import { readNamed } from "./places.ts";
import { mostBytes, sizeOf, textOf, oneOf } from "./values.ts";

export const RESIZES: readonly Frame["resize"][] = ["stretch", "letterbox", "letterbox-topleft", "crop"];

/** Returns the photo's size, from --photo or --image-size, and its --resize. Without a size, returns undefined. */
export async function frameOf(values: Values): Promise<Frame | undefined> {
  const size = await photoSize(values);
  if (size === undefined) {
    if (values["resize"] !== undefined)
      throw new UsageError("--resize needs the size of the photo. Add --photo or --image-size.");
    return undefined;
  }
  return { width: size[0], height: size[1], resize: oneOf(values, "resize", RESIZES) ?? "stretch" };
}

async function photoSize(values: Values): Promise<[number, number] | undefined> {
  const path = textOf(values, "photo");
  const givenSize = sizeOf(values, "image-size");
  if (path === undefined) return givenSize;
  const { width, height } = imageInfo(await readNamed("photo", path, mostBytes(values)), path);
  if (givenSize && (givenSize[0] !== width || givenSize[1] !== height))
    throw new UsageError(`--image-size: got ${givenSize.join("x")}, expected ${width}x${height} (${path})`);
  return [width, height];
}
