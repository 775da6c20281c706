/** `boxwright draw`: draws detections on their photo, as SVG or PNG. */
import { basename, extname, join } from "node:path";
import { TensorError } from "../../core/errors.ts";
import { isRecord, showJson, knownOf } from "../../core/json.ts";
import type { Drawn } from "../../picture/drawn.ts";
import { imageInfo } from "../../picture/image-info.ts";
import { drawSvg } from "../../picture/svg.ts";
import { load } from "../files/load.ts";
import { decodeText } from "../files/raw.ts";
import { rasterise } from "../raster.ts";
import { countText } from "./decode.ts";
import { decodeFiles, decodeFolders } from "./decode-files.ts";
import { type Folders, framesIn, isFolder, splitFolders } from "./frames.ts";
import { noteLine } from "./hints.ts";
import type { Io } from "./io.ts";
import { UsageError, type Values, optionsOf } from "./options.ts";
import type { Parsed } from "./parse.ts";
import { checkPlaces, readNamed, writeBelow, writeNamed } from "./places.ts";
import { mostBytes, textOf, textsOf, wholeOf, wrongValue } from "./values.ts";

export async function draw({ positionals, values }: Parsed, io: Io): Promise<void> {
  const split = await splitFolders(positionals);
  const photoPath = textOf(values, "photo");
  if (split !== null) {
    const frames = (await Promise.all(split.folders.map(framesIn))).flat();
    const isOne = frames.length === 1 && photoPath !== undefined && !(await isFolder(photoPath));
    if (!isOne) return drawAll(split, values, io);
    // Treat a folder with a single frame as the tensors of that frame.
    return draw({ positionals: [...split.shared, ...frames[0].paths], values }, io);
  }
  if (photoPath === undefined) throw new UsageError("--photo is missing. Name the PNG or JPEG to draw on.");
  const outs = outPaths(values, photoPath);
  const read = ["detections", "labels", "priors", "font"].map((option) => values[option]);
  await checkPlaces(
    outs.map((out) => ["out", out]),
    [photoPath, ...read, ...positionals],
  );
  const photo = await readNamed("photo", photoPath, mostBytes(values));
  // Check the photo first: decoding takes longer.
  imageInfo(photo, photoPath);

  const detections = await detectionsToDraw(positionals, values, io);
  const pictureFor = drawer(photo, photoPath, detections, values);
  for (const out of outs) {
    await writeNamed("out", out, await pictureFor(out));
    io.out(`${out}: ${countText(detections.length)}\n`);
  }
}

/** Returns a function that makes the picture for a path: a PNG if the name ends so, else an SVG. */
function drawer(
  photo: Uint8Array,
  path: string,
  detections: readonly Drawn[],
  values: Values,
): (out: string) => Promise<string | Uint8Array> {
  const svg = drawSvg(photo, detections, { title: `${basename(path)}: ${countText(detections.length)}` });
  const options = knownOf({ width: wholeOf(values, "width", 1), font: textOf(values, "font") });
  return async (out) => (/\.png$/i.test(out) ? rasterise(svg, options) : svg);
}

async function drawAll(split: Folders, values: Values, io: Io): Promise<void> {
  const photos = textOf(values, "photo");
  if (photos === undefined || !(await isFolder(photos)))
    throw new UsageError(
      "--photo has to name a folder too: several frames are drawn on the photos of their names.",
    );
  const idle = ["detections", "index"].find((option) => values[option] !== undefined);
  if (idle !== undefined) throw new UsageError(`--${idle} is for one frame, and a folder is given.`);
  const patterns = (textsOf(values, "out") ?? ["*.boxes.svg"]).map(outPattern);
  await decodeFolders(split, { command: "draw", values, io }, async ({ name, decoded, photo = "" }) => {
    const [detections] = decoded.images;
    if (decoded.images.length > 1)
      throw new TensorError("got a batch of several images, expected one for its photo");
    const bytes = await readNamed("photo", photo, mostBytes(values));
    const pictureFor = drawer(bytes, photo, detections, values);
    for (const pattern of patterns) {
      const out = pattern.replace("*", name);
      await checkPlaces([["out", out]], [photo]);
      await writeBelow("out", out, await pictureFor(out));
      io.out(`${out}: ${countText(detections.length)}\n`);
    }
  });
}

/** Returns a path for pictures from --out: a folder, or a name in which "*" stands for the name of the frame. */
function outPattern(out: string): string {
  if (/\*[^/]*\.(svg|png)$/i.test(out)) return out;
  if (/\.(svg|png)$/i.test(out))
    throw wrongValue(
      "out",
      out,
      'a folder, or a name with "*" for the name of each frame, such as boxes/*.png',
    );
  return join(out, "*.boxes.svg");
}

/** Returns the paths of the pictures to write. Default: an SVG with the photo's name, in the current folder. */
function outPaths(values: Values, photoPath: string): readonly string[] {
  const outs = textsOf(values, "out") ?? [`${basename(photoPath, extname(photoPath))}.boxes.svg`];
  const wrong = outs.find((out) => !/\.(svg|png)$/i.test(out));
  if (wrong !== undefined) throw wrongValue("out", wrong, "a name that ends in .svg or .png");
  return outs;
}

async function detectionsToDraw(
  positionals: readonly string[],
  values: Values,
  io: Io,
): Promise<readonly Drawn[]> {
  const file = textOf(values, "detections");
  const index = wholeOf(values, "index", 0) ?? 0;
  if (file !== undefined) checkDrawnAsTheyAre(positionals, values);
  const { images, notes } =
    file === undefined
      ? await decodeFiles(positionals, values)
      : { images: await readDetections(file, mostBytes(values)), notes: [] };
  for (const note of notes) io.err(noteLine(note, "draw"));
  if (index >= images.length)
    throw new UsageError(`--index: got ${index}, expected 0..${images.length - 1}, an image of the batch`);
  return images[index];
}

/** Options that affect drawing. All other options of `draw` affect decoding. */
const DRAWING = ["out", "detections", "index", "font", "width", "photo"];

/** Throws if the user combines --detections with tensors or with options for decoding. */
function checkDrawnAsTheyAre(positionals: readonly string[], values: Values): void {
  if (positionals.length > 0)
    throw new UsageError(
      `--detections takes the place of ${positionals.join(" ")}. Remove the files, or --detections.`,
    );
  const idle = Object.keys(optionsOf("draw")).find(
    (option) => !DRAWING.includes(option) && values[option] !== undefined,
  );
  if (idle !== undefined)
    throw new UsageError(
      `--${idle} has no effect on --detections, which are drawn as they are. Remove one of the two.`,
    );
}

async function readDetections(file: string, most: number): Promise<Drawn[][]> {
  const json = await readJson(file, most);
  const single = detectionsIn(json);
  if (single) return [single];
  if (Array.isArray(json)) {
    const images = json.map(detectionsIn);
    if (images.every((list) => list === null)) return [json as Drawn[]];
    if (images.every((list) => list !== null)) return images;
  }
  throw wrongValue("detections", json, 'a list of detections or {"detections": [...]}');
}

async function readJson(file: string, most: number): Promise<unknown> {
  try {
    return JSON.parse(decodeText(await load(file, most), file)) as unknown;
  } catch (e) {
    throw new UsageError(
      `--detections: got ${showJson(file)} (${(e as Error).message}), expected a JSON file of detections`,
    );
  }
}

const detectionsIn = (value: unknown): Drawn[] | null =>
  isRecord(value) && Array.isArray(value["detections"]) ? (value["detections"] as Drawn[]) : null;
