/** Recognises network files in formats that boxwright does not read, and advises which file to pass instead. */

/** A format that boxwright does not read. */
interface OtherFormat {
  /** Matches endings of file names in this format. Absent if other kinds of files share the endings. */
  readonly endings?: RegExp;
  /** Bytes that each file of the format has at offset `at`. */
  readonly beginning?: string;
  /** Offset of `beginning`. Default 0. */
  readonly at?: number;
  /** The end of an error message: the format, and the advice. */
  readonly what: string;
}

const ITS_ONNX = "pass the ONNX file that it was made from";
const EXPORT = "export the network to ONNX first";

const OTHER_FORMATS: readonly OtherFormat[] = [
  {
    beginning: "ORTM",
    at: 4,
    endings: /\.ort$/i,
    what: `a file of ONNX Runtime's own format (.ort): ${ITS_ONNX}`,
  },
  { beginning: "\x01HEF", endings: /\.hef$/i, what: `a network compiled for Hailo (.hef): ${ITS_ONNX}` },
  { beginning: "RKNN", endings: /\.rknn$/i, what: `a network compiled for Rockchip (.rknn): ${ITS_ONNX}` },
  { beginning: "ftrt", endings: /\.(engine|trt)$/i, what: `an engine of TensorRT: ${ITS_ONNX}` },
  { beginning: "7767517", endings: /\.param$/i, what: `a network of ncnn (.param and .bin): ${ITS_ONNX}` },
  { endings: /\.xml$/i, what: `XML; for a network of OpenVINO (.xml and .bin), ${ITS_ONNX}` },
  { endings: /\.(mlmodel|mlpackage|mlmodelc)$/i, what: `a network of Core ML: ${ITS_ONNX}` },
  {
    endings: /\.(blob|dlc|mnn|tmfile|kmodel|cvimodel|nb|dxnn)$/i,
    what: `a network compiled for a chip: ${ITS_ONNX}`,
  },
  { endings: /\.(pdmodel|pdiparams)$/i, what: "a network of Paddle: convert it by paddle2onnx first" },
  {
    endings: /\.(h5|keras|pb)$/i,
    what: "a network of Keras or TensorFlow: convert it to TFLite or ONNX first",
  },
  { endings: /\.(weights|caffemodel)$/i, what: `weights without their network: ${EXPORT}` },
  { beginning: "PK\x03\x04", what: `a zip; a PyTorch checkpoint (.pt) is one: ${EXPORT}` },
  { beginning: "\x80\x02", what: `a pickle, as old PyTorch checkpoints are: ${EXPORT}` },
  { beginning: "\x89HDF", what: "a Keras file: convert the network to TFLite first" },
];

const startsWith = (bytes: Uint8Array, text: string, at: number): boolean =>
  Array.from(text).every((letter, i) => bytes[at + i] === letter.charCodeAt(0));

/** Returns advice for a file whose first bytes are those of another format, else `null`. */
export const otherFormatOf = (bytes: Uint8Array): string | null =>
  OTHER_FORMATS.find(({ beginning, at = 0 }) => beginning !== undefined && startsWith(bytes, beginning, at))
    ?.what ?? null;

/** Returns advice for a file whose name has the ending of another format, else `null`. Pass the name without `.gz`. */
export const otherFormatOfName = (name: string): string | null =>
  OTHER_FORMATS.find(({ endings }) => endings?.test(name))?.what ?? null;
