/** Describes networks that no family decodes, from names and shapes. Each row of the table is one kind of network. */
import type { OpenTensor } from "./views.ts";

/** The tensors of a network, and the known facts about its inputs. */
export interface Network {
  readonly tensors: readonly OpenTensor[];
  /** Inputs with their names. Empty if nothing is known. */
  readonly inputs: readonly { readonly name: string; readonly dims: OpenTensor["dims"] | null }[];
  readonly inputSize: readonly [number, number] | null;
}

interface OtherKind {
  readonly what: string;
  /** Matches the name of one output. */
  readonly output?: RegExp;
  /** Matches the name of one input. */
  readonly input?: RegExp;
  /** Matches the name of a second output, which must be present. */
  readonly beside?: RegExp;
  readonly example: string;
}

/** Kinds of networks that names identify, whatever the shapes are. The first kind that fits is taken. */
const BY_NAME: readonly OtherKind[] = [
  {
    what: "a network of text and pictures or a language model: its columns are tokens or prompts",
    input: /input_ids|attention_mask|token_type|^tokens?$|position_ids|text_(token|mask)|past_key|prompt/i,
    output: /^present|past_key|text_embeds|logits_per_(image|text)|text_features/i,
    example: "logits:1x900x256 pred_boxes:1x900x4, beside the input input_ids",
  },
  {
    what: "a mask decoder such as SAM's, which is prompted",
    output:
      /iou_(score|pred)|low_res_(mask|logit)|object_score_logits|obj_ptr|high_res_(feat|mask)|image_embeddings?$/i,
    input: /point_(coords|labels)|image_embed|mask_input|has_mask_input|orig_im_size/i,
    example: "iou_scores:1x1x3 pred_masks:1x1x3x256x256",
  },
  {
    what: "masks of queries without boxes, such as MaskFormer's",
    output: /(masks?|class)_quer(y|ies)|mask_logits|sem_?seg|panoptic/i,
    example: "class_queries_logits:1x100x151 masks_queries_logits:1x100x128x128",
  },
  {
    what: "features or an embedding",
    output:
      /embed(?!d?er)|hidden_state|pooler|pooled|(^|[_/])(global_)?feat(ure)?s?(_?vec\w*|_?map\w*)?\d*$|encoder_out|descriptor|latent|codebook/i,
    example: "embeddings:1x512",
  },
  {
    what: "a part of a diffusion network: its maps are latents",
    output: /(^|_)sample$/i,
    input: /timestep|^latents?$|hidden_states$|^noise$/i,
    example: "out_sample:1x16x64x64",
  },
  {
    what: "speech or sound",
    output: /audio|speech|denoised|wav(eform)?|mel(_|$)|stateN|^hn$|^cn$|log_?probs?$|vad/i,
    input: /audio|speech|wav|mel(_|$)|input_(features|values)|sample_rate|^sr$/i,
    example: "last_hidden_state:1x1500x384",
  },
  {
    what: "a map of depth or disparity: valueMap reads it",
    output: /depth|dispar|^disp/i,
    example: "predicted_depth:1x518x518",
  },
  { what: "optical flow", output: /(^|[_/])flow/i, example: "flow:1x2x360x480" },
  {
    what: "a matte or a foreground mask: valueMap reads it",
    output: /^(pha|fgr|alpha|matte|mask_?matte|saliency|foreground)|_(alpha|matte)$/i,
    example: "pha:1x1x512x512",
  },
  { what: "a map of anomalies: valueMap reads it", output: /anomal/i, example: "anomaly_map:1x1x256x256" },
  {
    what: "the pose of a head, a gaze, an age or the like: numbers about a crop",
    output: /yaw|pitch|(^|_)roll($|_)|^fc_[ypr]$|gaze|(^|_)age(_|$)|gender|euler|rotation_?vec/i,
    example: "fc_y:1x1 fc_p:1x1 fc_r:1x1",
  },
  {
    what: "lanes",
    output: /(^|_)lanes?(_|$)|(loc|exist)_(row|col)|pred_curves|pred_lane/i,
    example: "loc_row:1x200x72x4 loc_col:1x100x81x4 exist_row:1x2x72x4 exist_col:1x2x81x4",
  },
  {
    what: "line segments or edges",
    output: /^tp_?map|junction|(^|_)lines?(_|$)|(^|_)edges?(_|$)/i,
    example: "tpMap:1x9x256x256 heat:1x1x256x256",
  },
  {
    what: "local features: points with descriptors, or their matches",
    output: /^desc|matches|mscores|^feats$|semi$|reliab|repeatab/i,
    example: "feats:1x64x44x80 keypoints:1x65x44x80 heatmaps:1x1x44x80",
  },
  {
    what: "parts of poses that are grouped afterwards: PoseNet, OpenPose, associative embedding",
    output: /(short|mid|long)_offsets?|displacement|(^|_)pafs?(_|$)|segments$|Mconv7_stage/i,
    example: "float_heatmaps:1x23x17x17 float_short_offsets:1x23x17x34 float_segments:1x23x17x1",
  },
  {
    what: "boxes in space (3D)",
    output:
      /(box|det|dim|loc|cent|size)\w*3d|3d_?(b?box|det|dim|loc|cent|size)|dir_cls|heading|^(rot|vel|rot_?y|velocity|height|dim)(_\d+)?$|bev/i,
    input: /voxel|pillar|point_?cloud|lidar/i,
    example: "cls_preds:1x248x216x18 box_preds:1x248x216x42 dir_cls_preds:1x248x216x12",
  },
  {
    what: "RetinaFace as MXNet runs it: its anchors and scores have another order than those of other exporters",
    output: /rpn_\w*stride_?\d/i,
    example: "face_rpn_cls_prob_reshape_stride32:1x4x20x20 face_rpn_bbox_pred_stride32:1x8x20x20",
  },
  {
    what: "a text recogniser",
    output: /ctc|transcript|char(acter)?s?(_|$)|text_recog|recogni[sz]e/i,
    example: "ctc_logits:1x40x97",
  },
  {
    what: "YOLACT, whose masks and boxes have priors of their own",
    output: /^proto$/i,
    beside: /^conf$/i,
    example: "proto:1x138x138x32 conf:1x19248x81",
  },
];

/** Possible channel counts of a picture: grey, colours, colours with alpha, and the 12 of YOLOv5's Focus layer. */
const PICTURE_CHANNELS = [1, 3, 4, 12];

/** Smallest side of a picture in pixels: MNIST has 28. A tensor with a shorter side is a sequence. */
const LEAST_SIDE = 24;
const areSides = (dims: OpenTensor["dims"]): boolean => dims.every((d) => (d as number) >= LEAST_SIDE);

/** Largest ratio of the sides of a grey picture without a batch. Sound of 80 bands and 3,000 steps has a larger one. */
const MOST_ASPECT = 8;

/**
 * True if a tensor is a sequence of an open length: [1,80,T] or [N,T,80]. A picture has two open sides, or none, or
 * its colours first or last.
 */
const isOpenSequence = (dims: OpenTensor["dims"]): boolean =>
  dims.length === 3 &&
  (dims[1] === null) !== (dims[2] === null) &&
  (dims[0] === null || dims[0] === 1) &&
  !(dims[1] === null && PICTURE_CHANNELS.includes(dims[2] as number));

/** True if a tensor of three known dimensions is long and narrow, with a first dimension of 1: [1,80,3000]. */
const isLongSequence = ([first, ...sides]: OpenTensor["dims"]): boolean =>
  first === 1 &&
  sides.length === 2 &&
  sides.every((d) => d !== null) &&
  Math.max(...(sides as number[])) > MOST_ASPECT * Math.min(...(sides as number[]));

/** True if a tensor may be a picture. Unknown dimensions may have any length. */
const mayBePicture = (dims: OpenTensor["dims"] | null): boolean =>
  dims === null ||
  (dims.some((d) => d === null) && !isOpenSequence(dims)) ||
  (dims.length === 4 &&
    (PICTURE_CHANNELS.includes(dims[1] as number) || PICTURE_CHANNELS.includes(dims[3] as number))) ||
  (dims.length === 3 &&
    !isLongSequence(dims) &&
    ((PICTURE_CHANNELS.includes(dims[0] as number) && areSides(dims.slice(1))) ||
      (PICTURE_CHANNELS.includes(dims[2] as number) && areSides(dims.slice(0, 2)))));

/** Returns a description of the network if its names or inputs show that no family decodes it. Else returns `null`. */
export function otherByName({ tensors, inputs }: Network): string | null {
  const kind = BY_NAME.find(
    ({ output, input, beside }) =>
      (output &&
        tensors.some(({ name }) => output.test(name)) &&
        (!beside || tensors.some(({ name }) => beside.test(name)))) ||
      (input && inputs.some(({ name }) => input.test(name))),
  );
  if (kind) return kind.what;
  const pictures = inputs.filter(({ dims }) => dims === null || dims.length > 2);
  if (inputs.length > 0 && !inputs.some(({ dims }) => dims === null || dims.length > 2))
    return "a network whose input is no picture";
  if (pictures.length > 0 && !pictures.some(({ dims }) => mayBePicture(dims)))
    return "a network whose input is no picture";
  const whole = pictures.filter(({ dims }) => dims?.length === 4);
  return whole.length > 1 ? "a network that compares several pictures" : null;
}

/** Usual lengths of embeddings. */
const EMBEDDINGS = [
  64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 960, 1024, 1280, 1536, 2048, 2304, 3072, 4096,
];

/** Returns a description of a network from its shapes alone, for tensors that fit no form. */
export function otherByShape({ tensors, inputSize }: Network): string {
  const [first] = tensors;
  const long = first.dims.filter((d) => d !== 1);
  const isAlone = tensors.length === 1;
  if (isAlone && long.length < 2)
    return EMBEDDINGS.includes(long[0] as number)
      ? "an embedding or features"
      : "numbers about the whole picture";
  const maps = tensors.filter(
    ({ dims }) => dims.length >= 3 && dims.slice(-2).every((d) => d === null || d > 1),
  );
  if (maps.length === tensors.length && tensors.every(({ dims }) => isLarge(dims, inputSize))) {
    const channels = Math.min(...(first.dims.slice(1).filter((d) => d !== null) as number[]));
    if (first.dims.length === 3 || channels === 1)
      return "a map of one value per pixel: depth, a matte, a mask (valueMap), or text (dbnet)";
    if (channels === 3) return "a picture: super-resolution, style transfer";
    return channels === 2
      ? "two values per pixel: flow, or a mask with its background"
      : "semantic segmentation (classMap)";
  }
  if (isAlone && first.dims.length === 3)
    return "a sequence: a text recogniser, speech or a language model, or features";
  return "a network of another kind";
}

/** True if the two longest dimensions are as long as the sides of a picture or of a map of pixels. */
function isLarge(dims: OpenTensor["dims"], inputSize: Network["inputSize"]): boolean {
  const sides = dims
    .filter((d) => d !== null && d !== 1)
    .sort((a, b) => (b as number) - (a as number)) as number[];
  const least = inputSize ? Math.min(...inputSize) / 8 : 48;
  return sides.length >= 2 && sides[1] >= least;
}

/** Output lengths of other networks: YOLOv1 (7 x 7 cells of 30 values), and 1,103 face points in three dimensions. */
const OTHER_LISTS = [1470, 3309];

/** True if an output of this length is more likely an embedding, or one of `OTHER_LISTS`, than class scores. */
export const looksLikeEmbedding = (count: number): boolean =>
  EMBEDDINGS.includes(count) || OTHER_LISTS.includes(count);
