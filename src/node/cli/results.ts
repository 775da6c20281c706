/** Formats the results of images. */
import type { Config } from "../../config/types.ts";
import { COCO80, COCO91 } from "../../core/labels.ts";
import type { DetectionFields } from "../../decode/detections.ts";
import { toPixels } from "../../decode/pixels.ts";
import type { MaskedDetection } from "./masks.ts";
import { UsageError } from "./options.ts";
import { detectionTable } from "./table.ts";
import { wrongValue } from "./values.ts";

/** The result of one image. One line of NDJSON. */
export interface ImageResult {
  /** Path of the image. */
  readonly image: string;
  /** Width of the image in pixels; `null` if unknown. Boxes then refer to the network's input. */
  readonly width: number | null;
  readonly height: number | null;
  readonly output_format: "detection";
  readonly detections: readonly DetectionFields[];
}

/** Line for tables whose boxes refer to the network's input. */
export const OF_INPUT =
  "coordinates are 0..1 of the network's input: --photo or --image-size (and --resize) make them the photo's";

const FORMATS = ["table", "json", "ndjson", "coco", "csv"] as const;
export type Format = (typeof FORMATS)[number];

/** Reads the option `--format`. */
export function formatOf(value: string | undefined, usual: Format): Format {
  if (value === undefined) return usual;
  const format = FORMATS.find((name) => name === value);
  if (format === undefined) throw wrongValue("format", value, FORMATS.join(", "));
  return format;
}

/** Texts before, for and after the results, so that each result can be printed as soon as it is known. */
export interface Formatter {
  readonly begin: string;
  /** Returns the text of one result. `index` counts the results from 0. */
  of(result: ImageResult, index: number): string;
  readonly end: string;
}

/**
 * Returns the formatter of an output format.
 * @param labels class names of the network
 * @param images names of the images, as far as they are known
 */
export function formatter(
  format: Format,
  labels: readonly string[] | null,
  images: readonly string[],
): Formatter {
  const list = (text: (result: ImageResult) => string): Formatter => {
    let count = 0;
    return {
      begin: "[",
      of: (result) => {
        const body = text(result);
        return body === "" ? "" : `${count++ === 0 ? "\n" : ",\n"}${body}`;
      },
      end: "\n]\n",
    };
  };
  switch (format) {
    case "table":
      return {
        begin: "",
        of: (result, index) => {
          const isFirst = index === 0 && result.width === null;
          return `${isFirst ? `${OF_INPUT}\n` : ""}${tableOf(result)}\n`;
        },
        end: "",
      };
    case "json":
      return list((result) => JSON.stringify(result, null, 2));
    case "ndjson":
      return { begin: "", of: (result) => `${JSON.stringify(result)}\n`, end: "" };
    case "coco":
      return cocoList(list, labels, images);
    case "csv":
      return { begin: `${CSV_HEAD.join()}\n`, of: csvOf, end: "" };
  }
}

function tableOf({ image, width, height, detections }: ImageResult): string {
  const size = width !== null && height !== null ? { width, height } : undefined;
  const count = `${detections.length} ${detections.length === 1 ? "detection" : "detections"}`;
  const head = `${image}${size ? ` (${width} x ${height})` : ""}: ${count}\n`;
  return detections.length === 0 ? head : head + detectionTable(detections, size);
}

/** Returns an image's id from its file name: a number if the name is one, since COCO names files by id. */
function stemOf(image: string): string | number {
  const stem = image.replace(/^.*[/\\]/, "").replace(/\.\w+$/, "");
  return /^\d+$/.test(stem) && Number.isSafeInteger(Number(stem)) ? Number(stem) : stem;
}

/** Returns the formatter for COCO results. Images whose file names are equal get their paths as ids. */
function cocoList(
  list: (text: (result: ImageResult) => string) => Formatter,
  labels: readonly string[] | null,
  images: readonly string[],
): Formatter {
  const counts = new Map<string, number>();
  for (const image of new Set(images)) {
    const key = String(stemOf(image));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const taken = new Set<string>();
  const isCoco = hasCocoNames(labels);
  return list((result) => {
    const { image } = result;
    const stem = stemOf(image);
    // Compare ids as texts: most readers of COCO files treat 7 and "7" as one id.
    const ways = [...((counts.get(String(stem)) ?? 0) > 1 ? [] : [stem]), image.replace(/\.\w+$/, ""), image];
    let id = ways.find((way) => !taken.has(String(way)));
    // Add a number to the id if frames in two folders have the same name.
    for (let n = 2; id === undefined; n++) if (!taken.has(`${image}#${n}`)) id = `${image}#${n}`;
    taken.add(String(id));
    return cocoOf(result, id, isCoco);
  });
}

/** Returns COCO results. Boxes are x, y, width, height in pixels. */
function cocoOf(
  { width, height, detections }: ImageResult,
  image_id: string | number,
  isCoco: boolean,
): string {
  return detections
    .map((d) => {
      const { x_min, y_min, x_max, y_max, keypoints } = toPixels(d, width ?? 1, height ?? 1);
      const rounded = (value: number): number => Math.round(value * 1000) / 1000;
      const { mask: segmentation } = d as Partial<MaskedDetection>;
      return JSON.stringify({
        image_id,
        category_id: categoryOf(d, isCoco),
        // Write the upright box, since COCO has no oriented boxes.
        bbox: [x_min, y_min, x_max - x_min, y_max - y_min].map(rounded),
        ...(keypoints && {
          keypoints: keypoints.flatMap((p) => [rounded(p.x), rounded(p.y), rounded(p.confidence)]),
        }),
        score: d.confidence,
        ...(segmentation && { segmentation }),
      });
    })
    .join(",\n");
}

/** Class counts with which a network may be trained on COCO, with class ids unlike COCO's. `null`: unknown count. */
const COCO_COUNTS = [null, 80, 90];

/** Throws if COCO results are asked for, but the network has no class names and may be trained on COCO. */
export function checkCocoNames(
  format: Format,
  { labels, classes }: Pick<Config, "labels" | "classes">,
): void {
  if (format === "coco" && labels === null && COCO_COUNTS.includes(classes))
    throw new UsageError(
      "--format coco needs the names of the classes: class ids of a network are not COCO's category ids. " +
        `Add --labels ${classes === 80 ? "coco80" : "coco80 or coco91"} if the classes are COCO's. ` +
        "Add a file of names if they are others: category_id is then the class id.",
    );
}

const hasCocoNames = (labels: readonly string[] | null): boolean =>
  labels !== null &&
  COCO80.every((name) => labels.includes(name)) &&
  labels.every((name) => COCO91.includes(name));

/** Returns COCO's category id if the network has COCO's classes, else the class id. */
function categoryOf({ class_id, label }: DetectionFields, isCoco: boolean): number {
  const id = isCoco ? COCO91.indexOf(label) : -1;
  return id < 0 ? class_id : id;
}

const CSV_HEAD = [
  ...["image", "width", "height", "class_id", "label", "confidence", "x_min", "y_min", "x_max", "y_max"],
] as const;

function csvOf({ image, width, height, detections }: ImageResult): string {
  const cell = (value: unknown): string => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return detections
    .map((d) => {
      const row = { image, width, height, ...d } as Readonly<Record<(typeof CSV_HEAD)[number], unknown>>;
      return `${CSV_HEAD.map((name) => cell(row[name])).join()}\n`;
    })
    .join("");
}
