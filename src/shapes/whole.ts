/** Rules of evidence for networks whose output describes the whole picture, a map of the picture, or a crop. */
import { looksLikeEmbedding } from "./none.ts";
import type { Rule } from "./rule.ts";

/** Lengths of lists with 68, 98 or 106 keypoints of a face, two coordinates each. */
const FACE_LENGTHS: readonly number[] = [136, 196, 212];

/** Largest side, in pixels, of the face crop that a network of face keypoints takes as input. */
const MOST_FACE_CROP = 192;

/** Length of a list with five keypoints of a face, two coordinates each. */
const FIVE_POINTS = 10;
/** True if a network of five face keypoints may have a square input of this side, in pixels. */
const isFivePointCrop = (side: number): boolean => side >= 40 && side <= 64;

/** Largest class count of a published classifier: ImageNet-21k. A longer row is a vocabulary or a buffer. */
const MOST_CLASSES = 22_000;

/** Largest class count of a classifier of lines of text, which tells how they are turned. */
const MOST_TURNS = 8;
/** True if an input of this size is a line of text: the crop of a recogniser. */
const isLine = ([width, height]: readonly [number, number]): boolean => height <= 64 && width >= 3 * height;

/** Usual limits on the detections per class that users give to HailoRT's compiler, the most usual first. */
export const HAILO_ROOMS: readonly number[] = [100, 80, 50, 200, 300];

/** Keypoint counts of published networks with heat maps. */
const HEAT_POINTS: readonly number[] = [
  13, 14, 15, 16, 17, 19, 20, 21, 23, 24, 26, 29, 37, 39, 68, 98, 106, 133, 308,
];

/** Smallest side of a heat map, in cells, if the input is unknown. Smaller maps are those of detectors. */
const LEAST_HEAT = 16;

/** Largest side of a map of FOMO, in cells. */
const MOST_FOMO_CELLS = 60;

/** Largest side, in pixels, of the usual inputs of pose networks on crops. */
const MOST_CROP = 384;

/** Matches the numbered names that Paddle's exporter gives to the outputs of every network. */
const NUMBERED = /^fetch_name_\d|^save_infer_model/;

export const WHOLE_RULES: readonly Rule[] = [
  {
    name: "scores of a whole picture",
    example: "[1,1000] or [1,2]; [1,512] is rather an embedding",
    points: ({ form, bound, views: { scores } }, { tensors, inputs, inputSize }) => {
      if (form.kind !== "scores of a picture") return 0;
      const [{ n, tensor }] = scores;
      const count = bound.C ?? 0;
      const { dims } = tensors[tensor];
      // Distinguish a batch from the steps of a text recogniser: [8,1000] is a batch of 8, [80,1,37] are 80 steps.
      // Beside an input of one picture, [N,17] is a list, unless its name says scores.
      const { name } = tensors[tensor];
      const isNamed = /prob|soft_?max|class|logit|predict|score|label/i.test(name);
      const isBatch =
        dims.length === 2 &&
        (dims[0] === null && (inputs.length === 0 || isNamed)
          ? true
          : inputs.some((input) => input.dims === null || input.dims[0] === dims[0]));
      const hasSteps = dims.length > 1 && dims[0] !== 1 && dims[0] !== null && !isBatch;
      const hasOthers = tensors.some((other, i) => i !== tensor && !form.beside?.test(other.name));
      if ((n !== 1 && !isBatch) || count < 2 || count > MOST_CLASSES || hasOthers || hasSteps) return null;
      if (/box|coord|x1|landm/i.test(name)) return null;
      if (inputSize && isLine(inputSize) && count > MOST_TURNS) return null;
      if (looksLikeEmbedding(count) && !isNamed) return null;
      // Score a large input lower: classifiers take small pictures.
      return inputSize && Math.min(...inputSize) > 512 ? 1 : 3;
    },
  },
  {
    name: "a small map with softmax of classes",
    example: "[1,12,12,2] for 96x96",
    points: ({ form, views: { cells } }, { inputSize, tensors }) => {
      if (form.kind !== "classes of cells") return 0;
      const [{ w, h, k, tensor, isInterleaved }] = cells;
      const isSmall = inputSize
        ? inputSize[0] === 8 * w && inputSize[1] === 8 * h && w === h && w <= MOST_FOMO_CELLS
        : w === h && w <= 40 && w >= 6;
      // Edge Impulse exports maps with adjacent channels. Others are a segmentation.
      if (!isInterleaved && !/soft_?max/i.test(tensors[tensor].name)) return null;
      const isUsual = k <= 12 && !/seg|heat|flow/i.test(tensors[tensor].name);
      return isSmall && isUsual && k >= 2 ? (inputSize ? 3 : 2) : null;
    },
  },
  {
    name: "heat maps of points",
    example: "[1,17,64,48] for 192x256",
    points: ({ form, bound, views: { maps } }, { inputSize, tensors, isFamilyStated }) => {
      if (form.kind !== "heat maps") return 0;
      const [{ w, h, tensor }] = maps;
      const { name } = tensors[tensor];
      const isHeat = /heat/i.test(name);
      // Require "heat" in the name of maps an eighth of the input's size: a segmentation may have such maps, too.
      const isPart = inputSize
        ? (isHeat ? [4, 8] : [4]).some((times) => inputSize[0] === times * w && inputSize[1] === times * h)
        : Math.max(w, h) <= (isHeat ? 256 : 128) && Math.min(w, h) >= LEAST_HEAT;
      if (!HEAT_POINTS.includes(bound.X ?? 0) || !isPart || /logit|seg|mask|class|prob/i.test(name))
        return null;
      // A larger input without "heat" in the name is that of a segmentation. Sapiens has such inputs, and 308 points.
      const mayBeSegmentation = !isHeat && !isFamilyStated && (bound.X ?? 0) < 100;
      if (mayBeSegmentation && inputSize && Math.max(...inputSize) > MOST_CROP) return null;
      return isHeat || inputSize ? 3 : 1;
    },
  },
  {
    name: "bins of coordinates, twice as many as pixels",
    example: "simcc_x [1,17,384], simcc_y [1,17,512] for 192x256",
    points: ({ form, bound: { X: x, Y: y } }, { inputSize }) => {
      if (form.kind !== "bins" || x === undefined || y === undefined) return 0;
      if (inputSize) return x === 2 * inputSize[0] && y === 2 * inputSize[1] ? 3 : form.isNamed ? 0 : null;
      return x >= 128 && y >= x && x % 64 === 0 && y % 64 === 0 ? 1 : form.isNamed ? 0 : null;
    },
  },
  {
    name: "one map as large as the input",
    example: "sigmoid_0.tmp_0 [1,1,640,640] of PaddleOCR",
    points: ({ form, views: { map } }, { inputSize, inputs, tensors, named, isFamilyStated }) => {
      if (form.kind !== "map of text") return 0;
      const [{ n, w, h, tensor }] = map;
      const isWhole = inputSize === null || n === null || (inputSize[0] === w && inputSize[1] === h);
      const isOfFamily = form.families.some((family) => named.includes(family));
      // Paddle names the input "x".
      const isPaddle = isOfFamily || inputs.length === 0 || inputs.some(({ name }) => name === "x");
      // PaddleSeg and PP-Matting have the same numbered name, and other inputs: fetch_name_0 beside img is a matte.
      if (!isPaddle && !isFamilyStated && NUMBERED.test(tensors[tensor].name)) return null;
      const isNamed = isOfFamily || form.parts.map.name?.test(tensors[tensor].name) === true;
      return isWhole && isNamed ? (isPaddle ? 3 : 1) : null;
    },
  },
  {
    name: "a buffer of HailoRT",
    example: "yolov8_nms_postprocess [1,40080], [1,2,5,80], or bytes [1,2202]",
    points: ({ form, bound, views: { rows } }, { tensors }) => {
      if (form.kind !== "packed") return 0;
      const [{ w, h, tensor }] = rows;
      const isTold = form.isNamed === true || (HAILO_ROOMS.includes(w) && tensors.length === 1);
      if (bound.C !== undefined) return h === 5 && isTold ? 2 : null;
      if ((bound.X ?? 0) < 10) return null;
      const isBytes = tensors[tensor].type === "u8";
      return ((bound.X ?? 0) - (isBytes ? 2 : 0)) % (isBytes ? 22 : 1) === 0 ? 2 : null;
    },
  },
  {
    name: "68, 98 or 106 points of a face",
    example:
      "output [1,136] of a 112x112 crop; [1,196] of a large picture are classes; [1,10] of 48x48 may be either",
    points: ({ form, bound: { X: x }, views: { points } }, { inputSize, tensors }) => {
      if (form.kind !== "coordinates of a face") return 0;
      const isAlone =
        tensors.length === 1 && !/prob|soft_?max|class|logit|score|label/i.test(tensors[0].name);
      if (!isAlone || points[0].n !== 1) return null;
      if (x === FIVE_POINTS) return inputSize?.every(isFivePointCrop) ? 2 : null;
      if (!FACE_LENGTHS.includes(x ?? 0)) return null;
      if (inputSize === null) return x === 196 ? 2 : 4;
      return Math.max(...inputSize) <= MOST_FACE_CROP ? 4 : null;
    },
  },
  {
    name: "pairs of coordinates",
    example: "align_fc3 [1,70]",
    points: ({ form, bound: { X: x } }) =>
      form.kind !== "coordinates" ? 0 : x !== undefined && x >= 8 && x % 2 === 0 && x <= 1000 ? 1 : null,
  },
];
