/** `readModel` returns a model file's contents as plain data, with the options that a decoder needs. */
import { COCO_CLASSES } from "../../core/coco.ts";
import { ConfigError, type ConfigProblem, problemOf } from "../../core/errors.ts";
import { TRAITS } from "../../core/families.ts";
import { COCO80 } from "../../core/labels.ts";
import { FUNCTION, type OptionRules, checkOptions } from "../../core/options.ts";
import { isBytes, show } from "../../core/tensor.ts";
import type { TypedOptions } from "../types.ts";
import { withoutBackground } from "../background.ts";
import { type Unxz, packingOf, readArchiveJson } from "./archive.ts";
import { archiveModel } from "./archive-model.ts";
import { refuseFile } from "./bytes.ts";
import { type InferenceMetadata, readInference } from "./inference.ts";
import { readLibreyolo } from "./libreyolo.ts";
import type { NetworkFile } from "./file.ts";
import { inputOf, sizeOf } from "./input.ts";
import { otherFormatOf } from "./other-files.ts";
import { readOnnx } from "./onnx.ts";
import { type Recognition, recognise } from "./recognise.ts";
import { isTflite, readTflite } from "./tflite.ts";
import type { Model, ModelInput, ModelTensor } from "./types.ts";
import { type UltralyticsMetadata, readUltralytics } from "./ultralytics.ts";

/** Options of `readModel`. */
export interface ReadModelOptions {
  /** Unpacks an NN Archive that is packed with xz: `(packed) => new XzReadableStream(packed)` of `xz-decompress`. */
  readonly unxz?: Unxz;
}

const OPTIONS: OptionRules = { unxz: FUNCTION };

/** A ConfigError made of a single message, for `checkOptions`. */
class OptionError extends ConfigError {
  constructor(message: string) {
    super([{ path: "", message }]);
  }
}

/**
 * Reads a network's own file: ONNX, TFLite, or an NN Archive (`.tar`, `.tar.gz`, or `.tar.xz` with the option `unxz`).
 * Weights are neither read nor copied. `createDecoder` takes the result in place of a config. Exports of Ultralytics,
 * YOLOX and NanoDet need no other option. For other files, `missing` in the result lists the options that a decoder
 * needs.
 * @param bytes the whole file
 * @throws ConfigError, and nothing else, if the bytes are none of these files, are cut short or are damaged
 * @example
 * import { createDecoder, readModel } from "boxwright";
 *
 * // An ONNX file with a picture as input and nothing else in it: field number, length, contents.
 * const field = (number: number, text: number[]) => [number * 8 + 2, text.length, ...text];
 * const letters = (text: string) => [...new TextEncoder().encode(text)];
 * const sizes = [1, 3, 64, 64].flatMap((size) => field(1, [8, size]));
 * const type = field(1, [8, 1, ...field(2, sizes)]);
 * const bytes = Uint8Array.from(field(7, field(11, [...field(1, letters("images")), ...field(2, type)])));
 *
 * const model = await readModel(bytes);
 * console.log(model.format, model.inputs[0].name, model.inputSize); // onnx images [64,64]
 * console.log(model.missing[0].path); // family
 * const decoder = await createDecoder(model, { family: "yolov8", classes: 80 });
 * console.log(decoder.config.inputSize); // [64,64]
 */
export async function readModel(bytes: Uint8Array, options: ReadModelOptions = {}): Promise<Model> {
  checkOptions(options ?? {}, OPTIONS, { Kind: OptionError });
  if (!isBytes(bytes)) return refuseFile("", show(bytes), "the bytes of a model file, a Uint8Array");
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isTflite(view)) return modelOf(await readTflite(view));
  const packing = packingOf(view);
  if (packing !== null) return archiveModel(await readArchiveJson(view, packing, options?.unxz));
  const other =
    otherFormatOf(view) ?? OTHERS.find(([beginning]) => beginning.every((byte, i) => view[i] === byte))?.[1];
  if (view.length === 0 || other) refuseFile("", other ?? "an empty file", "ONNX, TFLite or an NN Archive");
  const text = beginningOfText(view);
  if (text !== null)
    refuseFile("", `text that begins with ${show(text)}`, "the bytes of ONNX, TFLite or an NN Archive");
  return modelOf(readOnnx(view));
}

const letters = (text: string): readonly number[] => Array.from(text, (letter) => letter.charCodeAt(0));

function beginningOfText(bytes: Uint8Array): string | null {
  const first = Array.from(bytes.subarray(0, 40));
  const isLetter = (byte: number): boolean => byte > 31 || byte === 9 || byte === 10 || byte === 13;
  return first.every((byte) => isLetter(byte) && byte < 127) ? String.fromCharCode(...first).trim() : null;
}

/** Error text for a file that begins as HTML. Many servers answer a request for a missing file with a page. */
const PAGE = "a page in HTML: the server has no file at this address";

/** First bytes of common files that hold no network. An ONNX file itself has no fixed first bytes. */
const OTHERS: readonly (readonly [beginning: readonly number[], what: string])[] = [
  [letters("{"), "JSON; createDecoder takes a config as it is"],
  [letters("version https://git-lfs"), "a pointer of Git LFS: git lfs pull fetches the file"],
  ...["\x89PNG", "\xff\xd8\xff", "GIF8"].map((start) => [letters(start), "the file of a photo"] as const),
  ...["<!", "<html", "<HTML"].map((start) => [letters(start), PAGE] as const),
  [letters("<"), "XML; for a model of OpenVINO, pass the ONNX file that it was made from"],
];

function modelOf(file: NetworkFile): Model {
  const libre = readLibreyolo(file.metadata);
  const metadata = libre ? null : withTaskOfMasks(readUltralytics(file.metadata), file);
  const inference = libre ?? readInference(file.metadata);
  const input = inputOf(file.inputs, file.normalisation);
  const inputSize = sizeOf(input) ?? metadata?.inputSize ?? inference?.inputSize ?? null;
  const recognised: Recognition | null = inference
    ? { exporter: inference.exporter, options: inference.options }
    : recognise({ file, metadata, input, inputSize });
  const names =
    metadata?.names ??
    inference?.names ??
    (file.labels ? withoutBackground(file.labels) : namesOfCoco(file, recognised?.options));
  const task = metadata?.task ?? null;
  const options: Partial<TypedOptions> = {
    ...recognised?.options,
    ...(recognised && task === "pose" ? { task, ...(metadata && pointsOf(metadata)) } : {}),
    ...(recognised && (task === "segment" || task === "oriented") ? { task } : {}),
    ...(inference && hasQueryMaps(file) ? taskOf(inference) : {}),
    ...(names && !recognised?.areOthersNames ? { labels: names } : {}),
    ...(inputSize ? { inputSize } : {}),
  };
  return {
    format: file.format,
    producer: file.producer,
    opset: file.opset,
    exporter: recognised?.exporter ?? (metadata && "ultralytics"),
    description: file.description,
    task: metadata ? metadata.task : inference ? inference.task : recognised && "detect",
    names,
    inputSize,
    stride: metadata?.stride ?? null,
    endToEnd: metadata?.endToEnd ?? null,
    keypoints: metadata?.keypoints ?? null,
    input,
    inputs: file.inputs,
    outputs: file.outputs,
    ...(file.format === "onnx" && { hasExponentials: file.operators.has("Exp") }),
    metadata: file.metadata,
    options,
    archive: null,
    missing: missingIn({
      file,
      metadata,
      options,
      input,
      needsClasses: recognised?.needsClasses === true,
      others: recognised?.areOthersNames ? (names?.length ?? 0) : 0,
    }),
  };
}

/** Matches a name of the data set COCO as a separate word: "coco", "coco.yaml", "COCO2017", "mscoco". */
const COCO_WORD = /(?:^|[^a-z])(?:ms-?)?coco(?:80|128|[-_ ]?20(?:14|17))?(?![a-z0-9])/i;

/** Returns COCO's class names if the network has 80 classes and the file mentions COCO, else `null`. */
function namesOfCoco(file: NetworkFile, options: Partial<TypedOptions> = {}): readonly string[] | null {
  if (options.classes !== COCO_CLASSES) return null;
  const texts = [
    file.description ?? "",
    ...Object.values(file.metadata),
    ...file.outputs.map(({ name }) => name),
  ];
  const isTrainedFurther = texts.some((text) => /fine-?tun/i.test(text));
  return !isTrainedFurther && texts.some((text) => COCO_WORD.test(text)) ? COCO80 : null;
}

/** Returns the metadata, with task "segment" if outputs contain prototypes: YOLOv5's exporter states no task. */
function withTaskOfMasks(
  metadata: UltralyticsMetadata | null,
  { outputs }: NetworkFile,
): UltralyticsMetadata | null {
  const [rows, prototypes, ...others] = outputs.map(({ dims }) => dims?.length);
  const hasMasks = metadata?.taskName === null && rows === 3 && prototypes === 4 && others.length === 0;
  return hasMasks ? { ...metadata, task: "segment" } : metadata;
}

/** Returns the options for the masks or keypoints of a network with queries. */
function taskOf({ task, keypoints }: InferenceMetadata): Partial<TypedOptions> {
  if (task === "segment") return { task };
  return task === "pose" && keypoints !== null ? { task, keypoints: [keypoints, 3] } : {};
}

/** True if an output may hold a mask or keypoints for each query. If none does, only boxes are read. */
const hasQueryMaps = ({ outputs }: NetworkFile): boolean => outputs.some(({ dims }) => dims?.length === 4);

interface Findings {
  readonly file: NetworkFile;
  readonly metadata: UltralyticsMetadata | null;
  readonly options: Partial<TypedOptions>;
  readonly input: ModelInput | null;
  readonly needsClasses: boolean;
  /** Count of the class names in the file if they do not fit the network, else 0. */
  readonly others: number;
}

/** Returns the options for keypoints. Returns none unless a keypoint has two or three values. */
function pointsOf({ keypoints, keypointNames }: UltralyticsMetadata): Partial<TypedOptions> {
  const [count = 0, values] = keypoints ?? [];
  if (values !== 2 && values !== 3) return {};
  return { keypoints: [count, values], ...(keypointNames && { keypointNames }) };
}

/** Tasks that a decoder reads. */
const DECODED: readonly string[] = ["detect", "pose", "segment", "oriented", "classify"];

/** Returns the facts that a decoder needs but the file does not state. */
function missingIn({ file, metadata, options, input, needsClasses, others }: Findings): ConfigProblem[] {
  const { outputs } = file;
  const problems: ConfigProblem[] = [];
  const add = (...problem: Parameters<typeof problemOf>): void => void problems.push(problemOf(...problem));
  const task = metadata?.task === null ? metadata.taskName : (metadata?.task ?? "detect");
  if (!DECODED.includes(task ?? ""))
    add(
      "task",
      `a network for "${task}"`,
      '"detect", "pose", "segment", "oriented" or "classify", which boxwright decodes',
    );
  else if (options.family === undefined)
    add(
      "family",
      `outputs ${outputs.map(shapeOf).join(", ") || "none"} ` +
        (metadata ? "that fit no export of Ultralytics" : "and no metadata of an exporter that is known"),
      "the option family, and what the family needs (classes or labels, anchors, priors); boxwright " +
        "inspect lists what the shapes can be",
      "family",
    );
  if (needsClasses && options.labels === undefined)
    add(
      "classes",
      others > 0
        ? `${others} class names that do not fit ${outputs.map(shapeOf).join(", ")}`
        : "no class names",
      'the option labels, "coco91" for weights of COCO, or classes',
      "labels",
    );
  if (options.inputSize === undefined && !isNormalised(options))
    add(
      "inputSize",
      input ? `an input ${shapeOf(input)}, whose size is open` : "no input that is surely the picture",
      "the option inputSize, [width, height] in pixels",
      "inputSize",
    );
  return problems;
}

/** True if the network's boxes are normalised. Then a decoder needs no input size. */
const isNormalised = ({ coordinates, family }: Partial<TypedOptions>): boolean =>
  (coordinates ?? (family && TRAITS[family].coordinates)) === "normalised";

const shapeOf = ({ name, dims }: ModelTensor): string =>
  `${name} [${dims?.map((d) => d ?? "?").join(",") ?? "?"}]`;
