/** Text that `--help` prints. */
import { COMMANDS, type CommandName, type Option, UsageError, isCommand } from "./options.ts";
import { showJson } from "../../core/json.ts";

/** Column of the help in which the descriptions of options begin. */
const DESCRIPTION_COLUMN = 27;
const LINE_WIDTH = 120;

const FILES = `Tensor files: .npy, .npz, .safetensors, and .bin with a JSON beside it (x.bin.json, x.json, meta.json). Any of them may
be gzipped. A JSON that lists tensors ([{"name", "file", "dtype", "shape"}]) stands for all of them. "scale" and
"zeroPoint" in it apply to integers. For integers in other files use --quantised.
CONFIG is the network's own file (.onnx, .tflite), an NN Archive (.tar, .tar.gz, .tar.xz) or its config.json, an
NN_config or nn_config file, or typed options.`;

/** Text around the options of a command. */
interface Page {
  readonly usage: readonly string[];
  readonly about: string;
  /** Text after the command's own options. */
  readonly note?: string;
  readonly examples: readonly string[];
}

const PAGES: Readonly<Record<CommandName, Page>> = {
  run: {
    usage: ["boxwright run MODEL PHOTOS... [options]"],
    about: `Runs a network on photos, and prints what is found. MODEL is an ONNX or TFLite file. PHOTOS are PNG and JPEG files, folders,
patterns in quotes, or - for standard input (a photo, or one path per line). A photo that fails does not end the run, but the
exit code is 1 then.`,
    note:
      "Needs optional packages: npm install onnxruntime-node pngjs jpeg-js. TFLite needs " +
      "@tensorflow/tfjs-tflite in place of the first. --draw also needs " +
      "@resvg/resvg-js dejavu-fonts-ttf.",
    examples: [
      "boxwright run yolov8n.onnx photo.jpg --draw boxes",
      'boxwright run yolox.onnx "photos/**/*.jpg" --labels coco80 --format ndjson --out found.ndjson',
    ],
  },
  decode: {
    usage: ["boxwright decode [CONFIG] TENSORS... [options]"],
    about: "Prints the detections. Coordinates are 0..1, and in pixels too if the photo's size is known.",
    note: `A folder stands for its frames: each .npy, .npz and .safetensors in it, and each folder with a meta.json. A frame that fails
does not end the command, but the exit code is 1 then.`,
    examples: [
      "boxwright decode config.json outputs/meta.json --scores logits --photo cat.png",
      "boxwright decode config.json frames --photo photos --format ndjson",
    ],
  },
  draw: {
    usage: [
      "boxwright draw [CONFIG] TENSORS... --photo FILE [options]",
      "boxwright draw --detections FILE --photo FILE [options]",
    ],
    about: "Draws the detections on the photo.",
    note: "SVG needs nothing else. PNG needs the optional packages: npm install @resvg/resvg-js dejavu-fonts-ttf",
    examples: [
      "boxwright draw config.json outputs.npz --photo cat.jpg --resize letterbox --out cat.png",
      'boxwright draw config.json frames --photo photos --out "boxes/*.png"',
    ],
  },
  inspect: {
    usage: ["boxwright inspect [CONFIG] [TENSORS | NAME:SHAPE[:TYPE[:SCALE,ZERO]]]... [options]"],
    about:
      "Prints how each tensor is read, and why. For shapes alone: how they can be read, and the config that settles it. " +
      "N or ? stands for a size that is open.",
    examples: [
      "boxwright inspect model.onnx",
      "boxwright inspect model.onnx --try photo.jpg",
      "boxwright inspect archive.tar.xz",
      "boxwright inspect output0:1x84x8400:f32",
      "boxwright inspect boxes:Nx5 labels:N:i64",
      "boxwright inspect boxes:1x1917x4:u8:0.07,128 scores:1x1917x91:u8:0.004,0",
      "boxwright inspect --family yolov5 --classes 80 --input-size 640x640 output0:1x25200x85",
    ],
  },
  compile: {
    usage: [
      "boxwright compile [CONFIG] [TENSORS...] --outputs NAME:SHAPE[:TYPE[:SCALE,ZERO]],... [options] --out plan.bin",
    ],
    about: `Writes the plan of a network as a file. boxwright/plan decodes by the file in JavaScript, in half the bytes of
boxwright, and C programs by that of embedded/ in the repository. With --out detector.mjs it writes an ES module of
at most 25 kB (gzipped) that exports decode(outputs, frame), for boxes of this network alone and without the package.
Prints to standard error how much memory a decoder needs.`,
    examples: [
      "boxwright compile config.json --outputs out:1x255x13x13:f32 --out plan.bin",
      "boxwright compile yolov8n.onnx -o detector.mjs",
      'boxwright compile config.json --outputs "boxes:1x1917x4:u8:0.07,128,scores:1x1917x91:u8:0.004,0" ' +
        "--c detector --out detector.h",
    ],
  },
};

const OVERVIEW = `boxwright turns the output tensors of YOLO and SSD networks into labelled boxes.

Usage: boxwright COMMAND [options]

  run       photos to detections, by a network in ONNX or TFLite
  decode    tensors to detections, as a table or as JSON
  draw      boxes, labels and confidences on a photo, as SVG or PNG
  inspect   how a config, an archive, tensor files or shapes would be read
  compile   a config and shapes to a module or a plan file, for small bundles and for C

boxwright COMMAND --help prints the options of a command; boxwright --version prints the version.
Exit code: 0 done, 1 the input cannot be decoded, 2 wrong usage.
`;

/** Returns the help of a command, or the overview if no command is named. */
export function helpText(command?: string): string {
  if (command === undefined) return OVERVIEW;
  if (!isCommand(command))
    throw new UsageError(
      `unknown command ${showJson(command)}: expected ${Object.keys(COMMANDS).join(", ")}`,
    );
  const { usage, about, note, examples } = PAGES[command];
  const [ofCommand, ...shared] = COMMANDS[command].map(({ title, options }) =>
    [...(title === "" ? [] : [`${title}:`]), ...Object.entries(options).map(optionText)].join("\n"),
  );
  const parts = [
    usage.map((line, i) => `${i === 0 ? "Usage:" : "      "} ${line}`).join("\n"),
    about,
    ofCommand,
    ...(note === undefined ? [] : [note]),
    ...shared,
    FILES,
    [examples.length === 1 ? "Example:" : "Examples:", ...examples.map((line) => `  ${line}`)].join("\n"),
  ];
  return `${parts.join("\n\n")}\n`;
}

function optionText([name, { value, help }]: [string, Option]): string {
  const left = `  --${name}${value === undefined ? "" : ` ${value}`}`;
  const [first, ...rest] = wrap(help, LINE_WIDTH - DESCRIPTION_COLUMN);
  const indent = " ".repeat(DESCRIPTION_COLUMN);
  const head =
    left.length < DESCRIPTION_COLUMN ? [left.padEnd(DESCRIPTION_COLUMN) + first] : [left, indent + first];
  return [...head, ...rest.map((line) => indent + line)].join("\n");
}

/** Breaks a text into lines of at most `width` characters. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
