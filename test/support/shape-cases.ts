/**
 * Makes seeded cases: options and tensor shapes of a network, often with one of them wrong. The number of a case is its
 * seed. `scripts/plans.ts` records the plan or the refusal of each case.
 */
import type { DecoderOptions } from "../../src/config/types.ts";
import type { TensorSpecInput } from "../../src/core/tensor.ts";
import { mulberry32, pick, type Random, shuffled } from "./seeded-networks.ts";

/** The sizes from which the shapes of a case are made. */
interface Sizes {
  readonly n: number;
  /** Maps at strides 8, 16 and 32: [height, width]. */
  readonly maps: readonly (readonly [number, number])[];
  readonly classes: number;
  /** Count of the values of all points of an object. */
  readonly points: number;
  readonly masks: number;
  /** Count of the rows of a finished list. */
  readonly list: number;
  readonly input: readonly [number, number];
}

type Shapes = readonly (readonly number[])[];

/** A kind of network: its families, the names of its tensors, and their shapes. */
type Kind = readonly [
  families: string,
  names: string,
  shapes: (s: Sizes) => Shapes,
  options?: DecoderOptions,
];

const eachMap = ({ maps }: Sizes, ...channels: readonly number[]): Shapes =>
  maps.flatMap(([h, w]) => channels.map((k) => [1, k, h, w]));
const eachRows = ({ maps }: Sizes, times: number, ...channels: readonly number[]): Shapes =>
  maps.flatMap(([h, w]) => channels.map((k) => [1, times * h * w, k]));
const quarter = ({ input: [w, h], masks }: Sizes): readonly number[] => [1, masks, h / 4, w / 4];

const V8 = "yolov8 yolo11 yolo26 yolov10 yolov6";
const POSE = { task: "pose" } as const;
const SEGMENT = { task: "segment" } as const;
const ORIENTED = { task: "oriented" } as const;

const KINDS: readonly Kind[] = [
  [V8, "output", (s) => [[1, 4 + s.classes, s.n]]],
  [
    `${V8} ppyoloe damo-yolo`,
    "boxes scores",
    (s) => [
      [1, 4, s.n],
      [1, s.classes, s.n],
    ],
  ],
  [
    `${V8} ppyoloe picodet`,
    "boxes scores",
    (s) => [
      [1, s.n, 4],
      [1, s.n, s.classes],
    ],
  ],
  ["yolov5 yolox yolov6 yolo26", "output", (s) => [[1, s.n, 5 + s.classes]]],
  ["yolov5 yolov7 yolov3", "output", (s) => [[1, 3 * s.n, 5 + s.classes]]],
  ["yolov5 yolov3 yolov4 yolov2", "a b c", (s) => eachMap(s, 3 * (5 + s.classes))],
  ["yolox yolov6r1 yolov8 fastestdet", "a b c", (s) => eachMap(s, 5 + s.classes)],
  ["yolov8 yolov9 ppyoloe", "a b c", (s) => eachMap(s, 64 + s.classes)],
  ["yolov8 yolov6 yolo11", "b1 c1 b2 c2 b3 c3", (s) => eachMap(s, 64, s.classes)],
  ["rtmdet yolov6 yolov8", "b1 c1 b2 c2 b3 c3", (s) => eachMap(s, 4, s.classes)],
  ["yolox", "b1 o1 c1 b2 o2 c2 b3 o3 c3", (s) => eachMap(s, 4, 1, s.classes)],
  ["nanodet picodet", "b1 c1 b2 c2 b3 c3", (s) => eachRows(s, 1, 32, s.classes)],
  ["nanodet", "output", (s) => [[1, s.n, 32 + s.classes]]],
  [
    "yolov8 yolov9",
    "boxes scores",
    (s) => [
      [1, s.n, 64],
      [1, s.n, s.classes],
    ],
  ],
  [`${V8} boxes mmdeploy`, "output", (s) => [[1, s.list, 6]]],
  ["yolov7 boxes efficientdet paddle-nms", "output", (s) => [[s.list, 7]]],
  ["ssd-detection-output", "detection_out", (s) => [[1, 1, s.list, 7]]],
  [
    "detr rtdetr dfine rfdetr",
    "pred_boxes logits",
    (s) => [
      [1, s.list, 4],
      [1, s.list, s.classes],
    ],
  ],
  [
    "detr rfdetr rtdetr",
    "dets labels",
    (s) => [
      [1, s.list, 4],
      [1, s.list, s.classes + 1],
    ],
  ],
  ["rtdetr", "output", (s) => [[1, s.list, 4 + s.classes]]],
  [
    "mmdeploy boxes",
    "dets labels",
    (s) => [
      [1, s.list, 5],
      [1, s.list],
    ],
  ],
  [
    "efficient-nms tflite-postprocess boxes",
    "boxes scores classes num",
    (s) => [[1, s.list, 4], [1, s.list], [1, s.list], [1]],
  ],
  [
    "ssd efficientdet boxes",
    "boxes scores",
    (s) => [
      [1, 3 * s.n, 4],
      [1, 3 * s.n, s.classes],
    ],
  ],
  [
    "ultraface ssd",
    "boxes scores",
    (s) => [
      [1, s.n, 4],
      [1, s.n, 2],
    ],
  ],
  ["classifier", "output", (s) => [[1, s.classes]]],
  [V8, "output", (s) => [[1, 4 + s.classes + s.points, s.n]], POSE],
  [V8, "output", (s) => [[1, s.list, 6 + s.points]], POSE],
  ["yolov5 yolov7", "output", (s) => [[1, 3 * s.n, 5 + s.classes + s.points]], POSE],
  ["yolov8 yolo11", "a b c points", (s) => [...eachMap(s, 64 + s.classes), [1, s.points, s.n]], POSE],
  ["yolov8 yolo26", "a b c p1 p2 p3", (s) => [...eachMap(s, 5 + s.classes), ...eachMap(s, s.points)], POSE],
  ["yolov8", "b1 c1 p1 b2 c2 p2 b3 c3 p3", (s) => eachMap(s, 64, s.classes, s.points), POSE],
  ["yolov5", "a b c", (s) => eachMap(s, 3 * (5 + s.classes + s.points)), POSE],
  [
    "yolov8 yolo26",
    "boxes points",
    (s) => [
      [1, s.n, 5 + s.classes],
      [1, s.n, s.points],
    ],
    POSE,
  ],
  ["scrfd", "s1 b1 p1 s2 b2 p2 s3 b3 p3", (s) => eachRows(s, 2, 1, 4, 10)],
  ["yunet", "s1 o1 b1 p1 s2 o2 b2 p2 s3 o3 b3 p3", (s) => eachRows(s, 1, 1, 1, 4, 10)],
  [
    "retinaface",
    "loc conf landms",
    (s) => [
      [1, 2 * s.n, 4],
      [1, 2 * s.n, 2],
      [1, 2 * s.n, 10],
    ],
  ],
  ["yolov5-face", "output", (s) => [[1, 3 * s.n, 16]]],
  [
    "rtmo",
    "dets keypoints",
    (s) => [
      [1, s.list, 5],
      [1, s.list, 17, 3],
    ],
  ],
  [V8, "output protos", (s) => [[1, 4 + s.classes + s.masks, s.n], quarter(s)], SEGMENT],
  [V8, "output protos", (s) => [[1, s.list, 6 + s.masks], quarter(s)], SEGMENT],
  ["yolov5 yolov7", "output protos", (s) => [[1, 3 * s.n, 5 + s.classes + s.masks], quarter(s)], SEGMENT],
  [V8, "boxes coefficients protos", (s) => [[1, 4 + s.classes, s.n], [1, s.masks, s.n], quarter(s)], SEGMENT],
  [
    "yolov8 yolo11",
    "b1 c1 m1 b2 c2 m2 b3 c3 m3 protos",
    (s) => [...eachMap(s, 64, s.classes, s.masks), quarter(s)],
    SEGMENT,
  ],
  [
    "yolov8 yolo26",
    "a b c m1 m2 m3 protos",
    (s) => [...eachMap(s, 5 + s.classes), ...eachMap(s, s.masks), quarter(s)],
    SEGMENT,
  ],
  ["yolov5", "a b c protos", (s) => [...eachMap(s, 3 * (5 + s.classes + s.masks)), quarter(s)], SEGMENT],
  [
    "rfdetr rtdetr",
    "dets labels masks",
    (s) => [
      [1, s.list, 4],
      [1, s.list, s.classes],
      [1, s.list, 78, 78],
    ],
    SEGMENT,
  ],
  [V8, "output", (s) => [[1, 5 + s.classes, s.n]], ORIENTED],
  [V8, "output", (s) => [[1, s.list, 7]], ORIENTED],
  ["yolov8 yolo11", "a b c angles", (s) => [...eachMap(s, 64 + s.classes), [1, 1, s.n]], ORIENTED],
  ["yolov8 yolo26", "a b c r1 r2 r3", (s) => [...eachMap(s, 5 + s.classes), ...eachRows(s, 1, 1)], ORIENTED],
  ["yolov8 rtmdet", "b1 c1 r1 b2 c2 r2 b3 c3 r3", (s) => eachMap(s, 64, s.classes, 1), ORIENTED],
  ["centernet", "hm wh reg", (s) => [s.classes, 2, 2].map((k) => [1, k, s.input[1] / 4, s.input[0] / 4])],
  ["fomo", "output", (s) => [[1, s.input[1] / 8, s.input[0] / 8, 1 + s.classes]]],
];

/** Ways in which files differ from what was expected, and one that changes nothing. */
const TWISTS = [
  "none",
  "none",
  "last",
  "batch",
  "no batch",
  "off by one",
  "extra",
  "missing",
  "small",
] as const;

function twisted(random: Random, shapes: Shapes): Shapes {
  const at = Math.floor(random() * shapes.length);
  const change = (to: (dims: readonly number[]) => readonly number[]): Shapes =>
    shapes.map((dims, i) => (i === at ? to(dims) : dims));
  switch (pick(random, TWISTS)) {
    case "last":
      return shapes.map(([batch, ...others]) => [batch, ...others.slice(1), ...others.slice(0, 1)]);
    case "batch":
      return shapes.map(([, ...others]) => [2, ...others]);
    case "no batch":
      return shapes.map(([batch, ...others]) => (batch === 1 ? others : [batch, ...others]));
    case "off by one":
      return change((dims) => dims.map((d, i) => (i === 1 ? d + pick(random, [1, -1, 2]) : d)));
    case "extra":
      return [...shapes, [1, pick(random, [1, 3, 16, 32]), 20, 20]];
    case "missing":
      return shapes.length > 1 ? shapes.filter((_, i) => i !== at) : shapes;
    case "small":
      return change((dims) => dims.map((d) => Math.max(1, d >> 1)));
    default:
      return shapes;
  }
}

/** A case: typed options, and the tensors that a network would give. */
export interface ShapeCase {
  readonly options: DecoderOptions;
  readonly outputs: readonly (TensorSpecInput & { readonly name: string })[];
}

const POINTS = [
  [17, 3],
  [5, 2],
  [4, 3],
  [21, 2],
] as const;

/** Returns the case of a number. */
export function shapeCase(number: number): ShapeCase {
  const random = mulberry32(number);
  random();
  const [families, words, shapesOf, task] = KINDS[number % KINDS.length];
  const often = random() < 0.75;
  const input = pick(random, [
    [64, 64],
    [96, 64],
    [128, 96],
    [320, 320],
    [640, 640],
  ] as const);
  const maps = [8, 16, 32].map((stride) => [input[1] / stride, input[0] / stride] as const);
  const keypoints = pick(random, POINTS);
  const sizes: Sizes = {
    n: maps.reduce((sum, [h, w]) => sum + h * w, 0),
    maps,
    classes: pick(random, [1, 2, 3, 15, 20, 80]),
    points: keypoints[0] * keypoints[1],
    masks: pick(random, [32, 32, 16, 8]),
    list: pick(random, [300, 100, 20]),
    input,
  };
  const shapes = often && random() < 0.5 ? shapesOf(sizes) : twisted(random, shapesOf(sizes));
  const names = words.split(" ");
  const order = random() < 0.7 ? shapes.map((_, i) => i) : shuffled(random, shapes.length);
  const isStated = random() < 0.8;
  const isHigh = input[0] !== input[1] && random() < 0.15;
  const anchors = maps.map(
    () =>
      [
        [10, 13],
        [16, 30],
        [33, 23],
      ] as const,
  );
  const family = pick(random, families.split(" "));
  const options: DecoderOptions = {
    family: family as NonNullable<DecoderOptions["family"]>,
    ...(isStated && { classes: often ? sizes.classes : sizes.classes + pick(random, [0, 1, -1, 5]) || 1 }),
    ...(random() < 0.8 && { inputSize: isHigh ? ([input[1], input[0]] as const) : input }),
    ...(words === "a b c" && random() < 0.8 && { anchors: anchors.slice(0, pick(random, [3, 3, 3, 2])) }),
    ...(task?.task === "pose" && random() < 0.85 && { keypoints: often ? keypoints : pick(random, POINTS) }),
    ...(random() < 0.1 && { boxFormat: pick(random, ["xyxy", "cxcywh", "yxyx"] as const) }),
    ...(random() < 0.1 && { coordinates: pick(random, ["normalised", "pixels"] as const) }),
    ...(random() < 0.05 && {
      reading: pick(random, ["class-rows", "end-to-end", "objectness-rows"] as const),
    }),
    ...(random() < 0.08 && names.length === 2 && { roles: { boxes: names[0], scores: names[1] } }),
    ...(["ssd"].includes(family) && { variances: [0.1, 0.1, 0.2, 0.2] as const }),
    ...(task && random() < 0.93 && task),
  };
  const isOrdered = random() < 0.1;
  return {
    options,
    outputs: order.map((i) => ({
      name: names[i] ?? `t${i}`,
      dims: shapes[i],
      type: "f32",
      ...(isOrdered && shapes[i].length === 4 && { order: "NCHW" as const }),
    })),
  };
}
