/** Reads the metadata of a TFLite file: the flatbuffer TFLite Metadata, and the zip at the end of the file. */
import { show } from "../../core/tensor.ts";
import { readLabelFile } from "../label-file.ts";
import { MAX_ENTRIES, MAX_NAME, MAX_PORTS, MAX_TEXT, refuseFile } from "./bytes.ts";
import { Flatbuffer, type Table } from "./flatbuffers.ts";
import { type Literal, readLiteral } from "./literal.ts";
import type { ModelInput } from "./types.ts";
import { type ZipEntry, zipEntries, zipText } from "./zip.ts";

/** Largest count of associated files, and of preparation steps, per tensor. */
const MAX_FILES = 16;
/** Largest count of files in the zip that are unpacked in search of metadata. */
const MAX_SEARCHED = 8;
/** Largest count of values in a mean or standard deviation: one per channel. */
const MAX_CHANNELS = 64;

/** Field numbers of the tables in metadata_schema.fbs. */
const MODEL = { name: 0, description: 1, subgraphs: 3 };
const SUBGRAPH = { inputs: 2, outputs: 3 };
const TENSOR = { units: 4, files: 6 };
const FILE = { name: 0, type: 2, locale: 3 };
const UNIT = { kind: 0, options: 1 };
const NORMALISATION = { mean: 0, std: 1 };
/** Values of AssociatedFileType for label files: labels of an axis, and labels of values. */
const LABELS = [2, 3];
/** Value of ProcessUnitOptions for NormalizationOptions. */
const NORMALISES = 1;

export interface TfliteMetadata {
  readonly description: string | null;
  readonly entries: { readonly [key: string]: string };
  readonly labels: readonly string[] | null;
  readonly normalisation: ModelInput["normalisation"];
}

/**
 * Reads the metadata of a TFLite file from `buffer`, the metadata flatbuffer, and from the zip in `bytes`. Throws a
 * ConfigError for damaged metadata.
 */
export async function readTfliteMetadata(
  bytes: Uint8Array,
  buffer: Uint8Array | null,
): Promise<TfliteMetadata> {
  const zip = zipEntries(bytes);
  const dict = await readDict(bytes, zip);
  const model = buffer && new Flatbuffer(buffer, "TFLite Metadata").root();
  const subgraph = model?.item(MODEL.subgraphs, 0) ?? null;
  const entries = entriesOf(dict?.values ?? {});
  return {
    description:
      entries["description"] ??
      (model?.text(MODEL.name, MAX_TEXT) || model?.text(MODEL.description, MAX_TEXT) || null),
    entries,
    labels: subgraph && (await readLabels(bytes, zip, subgraph, dict?.name)),
    normalisation: subgraph && readNormalisation(subgraph),
  };
}

type Dict = { readonly [key: string]: Literal };

/** Returns the first file of the zip with a dict: Ultralytics' `metadata.json`, formerly `temp_meta.txt`. */
async function readDict(
  bytes: Uint8Array,
  zip: readonly ZipEntry[],
): Promise<{ name: string; values: Dict } | null> {
  const texts = zip.filter(({ name }) => /\.(json|txt)$/i.test(name));
  for (const entry of texts.slice(0, MAX_SEARCHED)) {
    const text = await zipText(bytes, entry);
    const values = text.trimStart().startsWith("{") ? readLiteral(text) : undefined;
    if (typeof values === "object" && values !== null) return { name: entry.name, values: values as Dict };
  }
  return null;
}

const entriesOf = (dict: Dict): { readonly [key: string]: string } =>
  Object.fromEntries(
    Object.entries(dict)
      .slice(0, MAX_ENTRIES)
      .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );

/** Returns the labels in the label file of an output. Skips label files with a locale, which are translations. */
async function readLabels(
  bytes: Uint8Array,
  zip: readonly ZipEntry[],
  subgraph: Table,
  dictName: string | undefined,
): Promise<readonly string[] | null> {
  const names = subgraph
    .tables(SUBGRAPH.outputs, MAX_PORTS)
    .flatMap((output) => output.tables(TENSOR.files, MAX_FILES))
    .filter((file) => LABELS.includes(file.i8(FILE.type)) && !file.text(FILE.locale, MAX_NAME))
    .map((file) => file.text(FILE.name, MAX_NAME));
  const entry = zip.find(({ name }) => names.includes(name) && name !== dictName);
  if (!entry) return null;
  const read = readLabelFile(await zipText(bytes, entry));
  return "labels" in read
    ? read.labels
    : refuseFile(`label file ${show(entry.name)} of the TFLite file`, read.got, read.expected);
}

/** Returns mean and standard deviation for the first input, in the unit of pixel values. */
function readNormalisation(subgraph: Table): ModelInput["normalisation"] {
  const unit = subgraph
    .item(SUBGRAPH.inputs, 0)
    ?.tables(TENSOR.units, MAX_FILES)
    .find((table) => table.i8(UNIT.kind) === NORMALISES)
    ?.table(UNIT.options);
  const mean = unit?.f32s(NORMALISATION.mean, MAX_CHANNELS) ?? [];
  const std = unit?.f32s(NORMALISATION.std, MAX_CHANNELS) ?? [];
  const isUsable = mean.length > 0 && mean.length === std.length;
  return isUsable && mean.every(Number.isFinite) && std.every((s) => s > 0 && s < Infinity)
    ? { mean, std }
    : null;
}
