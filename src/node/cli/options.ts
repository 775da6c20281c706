/** Table of all options of the command line. Help, parsing, suggestions and errors use the table. */
import type { OptionHint } from "../../core/errors.ts";
import { ROLE_NAMES } from "../../config/readers.ts";
import { suggestedFamilies } from "../../core/families.ts";

/** Error about wrong usage of the command line. The exit code is 2. */
export class UsageError extends Error {
  static override readonly name = "UsageError";
  override readonly name = "UsageError";
}

export interface Option {
  /** Placeholder for the value in the help. A flag takes no value and has no placeholder. */
  readonly value?: string;
  /** Text about the option in the help. */
  readonly help: string;
  readonly isRepeatable?: true;
  /** Option of the library that this option sets. */
  readonly sets?: OptionHint["option"];
  /** Value that is suggested if an error asks for the option. */
  readonly example?: string;
  /** Names of this option in other programs, in lower case without dashes. `core/names.ts` has more names. */
  readonly aliases?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

/** Options under one heading of the help. The first group of a command has no heading. */
export interface Group {
  readonly title: string;
  readonly options: Options;
}

/** Values of the options that the user gave, by option name. */
export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Returns options by command line names: `inputSize` becomes --input-size, unless a row states a `flag`. */
const flags = (rows: {
  readonly [N in OptionHint["option"]]?: Option & { readonly flag?: string };
}): Options =>
  Object.fromEntries(
    Object.entries(rows).map(([sets, { flag, ...option }]) => [
      flag ?? sets.replace(/[A-Z]+/g, (capitals) => `-${capitals.toLowerCase()}`),
      { ...option, sets: sets as OptionHint["option"] },
    ]),
  );

export const NETWORK: Options = {
  ...flags({
    family: {
      value: "NAME",
      help: `${suggestedFamilies().slice(0, 6).join(", ")}, ... (see README)`,
      example: suggestedFamilies()[0],
    },
    classes: { value: "N", help: "count of classes", example: "80" },
    labels: {
      value: "FILE|a,b,c|NAME",
      help:
        "class names: a file (one name per line, id and name, YAML, labelmap.pbtxt), names separated by " +
        "commas, or coco80, coco91, voc20, voc21",
      example: "names.txt",
    },
    inputSize: {
      value: "WxH",
      help: "size of the network input in pixels",
      example: "640x640",
      aliases: ["size"],
    },
    task: {
      value: "NAME",
      help: "what the network gives: detect (boxes, the default), pose, segment (and masks) or oriented (boxes with an angle)",
      example: "pose",
    },
    keypoints: {
      value: "KxV",
      help: "count of keypoints of a pose network, and values of each, 2 or 3",
      example: "17x3",
      aliases: ["kptshape"],
    },
    orientedSuppression: {
      value: "NAME",
      help: "how oriented boxes suppress each other: ultralytics, probiou or opencv",
      example: "probiou",
    },
    suppression: {
      value: "NAME",
      help: "how boxes suppress each other, if not greedily: soft-gaussian, weighted, ... (docs/suppression.md)",
      example: "soft-gaussian",
      aliases: ["softnms"],
    },
    angleRange: { value: "NAME", help: "angles of results: regular (0 to pi/2) or raw", example: "raw" },
    angleForm: {
      value: "NAME",
      help: "what the angle channel holds: radians, logits or fractions",
      example: "logits",
    },
    anchors: {
      value: "w,h,w,h,...",
      help: "anchors in input pixels (yolov2: in cells)",
      example: "w,h,w,h,...",
    },
    anchorMasks: {
      value: "JSON",
      help: `which anchors each feature map has, by its name or in order: '{"side26":[0,1,2],"side13":[3,4,5]}'`,
      example: "'[[0,1,2],[3,4,5]]'",
    },
  }),
  masks: {
    value: "rle|png",
    help: "masks of task segment. rle: in the results, as run lengths of COCO. png: as label maps, by run --draw",
  },
  ...flags({
    strides: {
      value: "8,16,32",
      help: "pixels per cell, from the largest feature map to the smallest",
      example: "8,16,32",
    },
    scaleXY: {
      value: "X",
      help: "scale_x_y of Darknet, one value or one per feature map",
      example: "1.05",
      aliases: ["scale"],
    },
    scores: {
      value: "NAME",
      help: "what scores are: probabilities, logits or softmax-logits (raw values)",
      example: "logits",
    },
    reading: { value: "NAME", help: "reading to take if the shapes allow several", example: "NAME" },
    boxFormat: {
      value: "NAME",
      help: "order of the box channels: cxcywh, xyxy, xywh, yxyx, cycxhw",
      example: "xyxy",
    },
    coordinates: {
      value: "NAME",
      help: "unit of the boxes: pixels, normalised, photo (pixels of the photo) or strides (RTMDet of mmyolo)",
      example: "normalised",
    },
    background: { value: "N|none", help: 'class id of the class that means "nothing here"', example: "none" },
    priors: { value: "FILE", help: "tensor file with the priors of an SSD head", example: "priors.npy" },
    priorFormat: {
      value: "NAME",
      help: "box format of the priors: xyxy, cxcywh, cycxhw",
      example: "cxcywh",
    },
    variances: {
      value: "a,b,c,d",
      help: "factors on the four box channels of an SSD head",
      example: "0.1,0.1,0.2,0.2",
    },
    scales: {
      value: "a,b,c,d",
      help: "the same by their inverses, as TensorFlow states them",
      example: "10,10,5,5",
      aliases: ["scale"],
    },
    roles: {
      flag: "role",
      value: "PART=NAME",
      help: `tensor that plays a part: ${ROLE_NAMES.join(", ")}; repeatable`,
      isRepeatable: true,
      example: "boxes=NAME",
    },
    rules: {
      value: "NAME",
      help: "conventions to decode by, of a program: depthai, depthai-nodes, gen1, ultralytics, opencv, tflite",
      example: "ultralytics",
    },
  }),
};

const RULES: Options = {
  ...flags({
    confidenceThreshold: {
      flag: "confidence",
      value: "X",
      help: "confidence threshold, 0..1",
      example: "0.25",
      aliases: ["thresh"],
    },
    iouThreshold: {
      flag: "iou",
      value: "X",
      help: "overlap threshold of the suppression, 0..1",
      example: "0.45",
      aliases: ["nms", "overlap"],
    },
    maxDetections: { flag: "max", value: "N", help: "most detections", example: "100" },
    keep: { value: "a,b,3", help: "detect only these classes, by name or class id" },
  }),
  only: { value: "a,b", help: "read only these tensors of the files" },
  ...flags({
    quantisation: {
      flag: "quantised",
      value: "NAME=SCALE,ZERO",
      help: "scale and zero point of a tensor of integers whose file does not state them; repeatable",
      isRepeatable: true,
      example: "NAME=0.07,128",
      aliases: ["quantized", "quant", "quantisation", "quantization", "zeropoint", "scale"],
    },
  }),
};

/** Options that are passed on to `createDecoder`. */
export const DECODER_OPTIONS: Options = { ...NETWORK, ...RULES };

const FILES: Options = {
  "max-file": {
    value: "N",
    help: "largest file to read, in MiB, also once unpacked (default 512)",
    aliases: ["maxsize", "maxbytes", "limit"],
  },
};

/** The option --engine. `inspect` has none, since it runs no engine; `compile` has its own. */
const ENGINE: Options = { engine: { value: "NAME", help: "auto (default), simd, scalar or ts" } };

export const FRAME: Options = {
  photo: {
    value: "FILE",
    help:
      "PNG or JPEG that the network saw; coordinates come back relative to it. For folders of frames: a " +
      "folder of photos of the same names",
    aliases: ["image", "img"],
  },
  "image-size": { value: "WxH", help: "size of the photo, if the file is not at hand" },
  resize: {
    value: "NAME",
    help: "how the photo was fitted into the network input: stretch (default), letterbox, letterbox-topleft, crop",
  },
};

const PREPARE: Options = {
  resize: { value: "NAME", help: "letterbox, letterbox-topleft, stretch, crop" },
  pad: { value: "a,b,c", help: "value of the padding, 0..255, one or one per channel" },
  order: { value: "NAME", help: "order of the input's channels: RGB, BGR, or GRAY for one" },
  mean: { value: "a,b,c", help: "value to subtract from channels of 0..255, one or one per channel" },
  std: { value: "a,b,c", help: "divisor of channels, one or one per channel: 255 for an input of 0..1" },
  resample: { value: "NAME", help: "bilinear, area, nearest, pillow, cubic" },
};

const groups = (options: Options, ...shared: readonly Group[]): readonly Group[] => [
  { title: "", options },
  ...shared,
];

const PHOTO_GROUP: Group = { title: "Photo", options: FRAME };
const NETWORK_GROUP: Group = {
  title: "Network, instead of a config file or over its contents",
  options: NETWORK,
};
const RULES_GROUP: Group = { title: "Rules", options: { ...RULES, ...FILES } };
const PREPARE_GROUP: Group = {
  title: "Preparation of photos, over what the network's file and family say",
  options: PREPARE,
};
const RUN_GROUP: Group = { title: "Rules", options: { ...RULES, ...ENGINE, ...FILES } };

/** Options of each command, in the order of the command's help. */
export const COMMANDS = {
  run: groups(
    {
      format: { value: "NAME", help: "table (default), json, ndjson, coco, csv" },
      out: {
        value: "FILE",
        help: "write results here instead of to standard output, once all images are done",
        aliases: ["output"],
      },
      resume: { help: "go on with a run to --out that was stopped, or run again what failed" },
      draw: {
        value: "FOLDER",
        help: "draw boxes on each photo, in the photo's own format, below this folder",
        aliases: ["save", "outdir"],
      },
      config: { value: "FILE", help: "config file of the network, over what the model file says" },
    },
    PREPARE_GROUP,
    NETWORK_GROUP,
    RUN_GROUP,
  ),
  decode: groups(
    {
      json: { help: 'print {"output_format": "detection", "detections": [...]}' },
      format: { value: "NAME", help: "table (default), json; for folders ndjson, coco and csv too" },
    },
    PHOTO_GROUP,
    NETWORK_GROUP,
    RUN_GROUP,
  ),
  draw: groups(
    {
      out: {
        value: "FILE",
        help:
          "picture to write, .svg or .png; repeatable; default: the photo's name with .boxes.svg. For " +
          "folders: a folder, or a name with * for the frame's",
        isRepeatable: true,
        aliases: ["output"],
      },
      detections: { value: "FILE", help: 'draw these instead of decoding: the output of "decode --json"' },
      index: { value: "N", help: "image of a batch, from 0 (default 0)" },
      font: {
        value: "FILE",
        help: ".ttf or .otf font for PNG (default: DejaVu Sans of the package dejavu-fonts-ttf)",
      },
      width: { value: "N", help: "width of a PNG in pixels (default: that of the photo)" },
    },
    PHOTO_GROUP,
    NETWORK_GROUP,
    RUN_GROUP,
  ),
  inspect: groups(
    {
      json: { help: "print the same as JSON" },
      try: {
        value: "PHOTO",
        help:
          "run the ONNX file on this photo with the likely readings and preparations, and write a page with a " +
          "picture and a line to copy for each",
      },
      out: {
        value: "FILE",
        help: "page of --try (default: the model's name with .try.html)",
        aliases: ["output"],
      },
    },
    NETWORK_GROUP,
    RULES_GROUP,
  ),
  compile: groups(
    {
      outputs: {
        value: "LIST",
        help:
          "name, shape and type of each output, separated by commas; repeatable. Not needed if the config " +
          "states them, or if tensor files are given",
        isRepeatable: true,
        sets: "outputs",
        example: "output0:1x84x8400:f32",
      },
      c: {
        value: "NAME",
        help: "write C source with an array of this name instead of the file, for less memory",
      },
      out: {
        value: "FILE",
        help:
          "write here instead of to standard output. A name that ends in .mjs or .js: an ES module that decodes " +
          "by itself, with its types beside it",
        aliases: ["output"],
      },
      engine: {
        value: "NAME",
        help:
          "of a module: simd (WebAssembly with vector instructions, the default) or ts (without WebAssembly, for " +
          "worklets of React Native and workers that compile none)",
      },
      kernel: {
        value: "FILE",
        help: "write the kernel too, with a memory of its own that is large enough for this plan (wasm3, WAMR)",
      },
    },
    NETWORK_GROUP,
    RULES_GROUP,
  ),
} as const satisfies Readonly<Record<string, readonly Group[]>>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export const isCommand = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name);

/** Returns the options of a command, without `--help`, which all commands have. */
export const optionsOf = (command: CommandName): Options =>
  Object.assign({}, ...COMMANDS[command].map((group) => group.options)) as Options;
