/** `boxwright decode`: turns tensors into detections, and prints them as a table or as JSON. */
import { type Decoded, type Network, decodeFiles, decodeFolders } from "./decode-files.ts";
import { type Folders, splitFolders } from "./frames.ts";
import { noteLine } from "./hints.ts";
import type { Io } from "./io.ts";
import { UsageError, type Values } from "./options.ts";
import type { Parsed } from "./parse.ts";
import { type Format, type Formatter, OF_INPUT, checkCocoNames, formatOf, formatter } from "./results.ts";
import { detectionTable } from "./table.ts";
import { textOf } from "./values.ts";

export async function decode({ positionals, values }: Parsed, io: Io): Promise<void> {
  const split = await splitFolders(positionals);
  const format = formatOf(textOf(values, "format"), values["json"] ? "json" : "table");
  if (split !== null) return decodeAll(split, values, format, io);
  if (format !== "table" && format !== "json")
    throw new UsageError(`--format ${format} is for folders. For one frame there are table and json.`);
  const decoded = await decodeFiles(positionals, values);
  for (const note of decoded.notes) io.err(noteLine(note, "decode"));
  io.out(format === "json" ? jsonText(decoded) : tableText(decoded));
}

/** Decodes the frames of folders, one result for each image. */
async function decodeAll(split: Folders, values: Values, format: Format, io: Io): Promise<void> {
  if (format === "coco" && values["photo"] === undefined && values["image-size"] === undefined)
    throw new UsageError(
      "--format coco needs the size of the photos: its boxes are in pixels. Add --photo or --image-size.",
    );
  let printer: Formatter | null = null;
  let count = 0;
  const begin = (network: Network, names: readonly string[]): Formatter => {
    checkCocoNames(format, network.decoder.config);
    const made = formatter(format, network.decoder.config.labels, names);
    io.out(made.begin);
    return made;
  };
  try {
    await decodeFolders(
      split,
      { command: "decode", values, io },
      ({ name, decoded, photo }, network, names) => {
        printer ??= begin(network, names);
        const { images, frame } = decoded;
        for (const [i, detections] of images.entries()) {
          const image = (photo ?? name) + (images.length > 1 ? `#${i}` : "");
          const size = { width: frame?.width ?? null, height: frame?.height ?? null };
          io.out(printer.of({ image, ...size, output_format: "detection", detections }, count++));
        }
      },
    );
  } finally {
    const printed = printer as Formatter | null;
    if (printed !== null) io.out(printed.end);
  }
}

/** Returns JSON: one object for one image, a list for a batch. */
function jsonText({ images }: Decoded): string {
  const results = images.map((detections) => ({ output_format: "detection", detections }));
  return `${JSON.stringify(results.length === 1 ? results[0] : results, null, 2)}\n`;
}

function tableText({ images, engine, frame, milliseconds }: Decoded): string {
  const tables = images.map(
    (detections, i) =>
      (images.length > 1 ? `image ${i}\n` : "") +
      (detections.length > 0 ? detectionTable(detections, frame) : ""),
  );
  const count = images.reduce((n, detections) => n + detections.length, 0);
  const place = frame === undefined && count > 0 ? `${OF_INPUT}\n` : "";
  return (
    `${tables.join("")}${place}${countText(count)}, engine ${engine}, ` +
    `${milliseconds.toFixed(2)} ms (first call)\n`
  );
}

/** Returns a text that states a count of detections. */
export const countText = (count: number): string => `${count} ${count === 1 ? "detection" : "detections"}`;
