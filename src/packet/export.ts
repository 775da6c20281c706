/**
 * Converts detections to formats of other projects. These formats have coordinates in pixels, so each function takes
 * the size of the image.
 */
import type { DetectionList } from "../decode/rows.ts";
import { type MaskedFields, frameIfExchanged } from "../decode/detections.ts";
import type { MaskRle } from "../decode/mask.ts";
import { namesFor, nearestName } from "../core/names.ts";
import { PacketError, need } from "./error.ts";
import { recordsOf } from "./read.ts";

/** Size of the original image in pixels. A `Frame` has these fields. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** A result of COCO: `bbox` is x, y, width, height in pixels. */
export interface CocoResult {
  readonly image_id: number;
  readonly category_id: number;
  readonly bbox: readonly [number, number, number, number];
  readonly score: number;
  /**
   * Three numbers for each keypoint: x and y in pixels, and 1. COCO's evaluation does not use the third number. A
   * keypoint that is NaN or infinite becomes 0, 0, 0, COCO's form of an unlabelled keypoint. Absent if there are no
   * keypoints.
   */
  readonly keypoints?: readonly number[];
  /** Mask as run lengths over the whole image, for detections that `withMasks` returned. */
  readonly segmentation?: MaskRle;
}

/** The image of COCO results. */
export interface CocoImage extends ImageSize {
  /** Id of the image in the annotation file. */
  readonly imageId: number;
  /**
   * Category ids by class id. Default: `category_id` is the class id. The category ids of COCO's 80 classes differ from
   * class ids: they go up to 90.
   */
  readonly categories?: readonly number[];
}

/** A box in Roboflow's format. `x` and `y` are the centre. All lengths are in pixels. */
export interface RoboflowPrediction {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly confidence: number;
  readonly class: string;
  readonly class_id: number;
  readonly detection_id: string;
}

/** A response of Roboflow's inference servers for one image. */
export interface RoboflowPredictions {
  readonly image: ImageSize;
  readonly predictions: readonly RoboflowPrediction[];
}

/** The columns of `supervision.Detections` for one image, boxes in pixels. */
export interface SupervisionFrame {
  /** x_min, y_min, x_max, y_max of each box. */
  readonly xyxy: readonly (readonly [number, number, number, number])[];
  readonly confidence: readonly number[];
  readonly class_id: readonly number[];
  readonly data: { readonly class_name: readonly string[] };
}

/** Returns each detection with its left upper corner, width and height in pixels. */
function inPixels(
  detections: DetectionList<MaskedFields>,
  image: ImageSize,
): readonly (readonly [MaskedFields, x: number, y: number, width: number, height: number])[] {
  // The image may be absent or of any type, since plain JavaScript may pass anything.
  const { width, height } = (image as ImageSize | null) ?? ({} as ImageSize);
  const isSize = [width, height].every(Number.isFinite) && width > 0 && height > 0;
  need(isSize, "image", [width, height], "its size in pixels", null);
  const frame = frameIfExchanged(detections, width, height);
  need(frame === null, "image", image, `width and height as those of ${frame}`, null);
  return recordsOf(detections, "detections", null).map((d) => {
    const { x_min, y_min, x_max, y_max } = d;
    // Refuse boxes in pixels: the sum of two corners nearly always exceeds 16. Boxes in 0..1 never reach that far
    // beyond the image.
    need(x_max + y_max < 16, "detections", d, "boxes in 0..1, as before toPixels", null);
    return [d, x_min * width, y_min * height, (x_max - x_min) * width, (y_max - y_min) * height];
  });
}

const IMAGE = ["width", "height", "imageId", "categories"];

/** Throws for a field name that looks misspelt. Allows other names, since the caller may pass a frame as the image. */
function checkImageNames(image: CocoImage | null | undefined): void {
  for (const name of Object.keys(image ?? {}))
    if (!IMAGE.includes(name) && nearestName(name, IMAGE) !== undefined)
      throw new PacketError(null, `image.${name}: got an unknown name, expected ${namesFor(name, IMAGE)}`);
}

/**
 * Returns the detections of an image as COCO results. `COCO.loadRes` of pycocotools reads the joined lists of all
 * images. To add masks, give each record the field `mask: detections.mask(i, { size: "frame" }).toRle()`.
 * @throws PacketError if the image has no size, a mask has another size, or `categories` has no whole number for a
 * class
 * @example
 * import { labelsOf, toCoco } from "boxwright";
 *
 * const categories = labelsOf("coco80").map((name) => labelsOf("coco91").indexOf(name)); // COCO's own ids
 * const cat = { class_id: 15, label: "cat", confidence: 0.5, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 };
 * const [result] = toCoco([cat], { imageId: 7, width: 640, height: 480, categories });
 * console.log(result.category_id, result.bbox); // 17 [160,240,320,240]
 */
export function toCoco(detections: DetectionList<MaskedFields>, image: CocoImage): CocoResult[] {
  const placed = inPixels(detections, image);
  checkImageNames(image);
  // Check the id: COCO's evaluation matches results with annotations by the image's id, and would drop results without
  // an id.
  need(
    Number.isSafeInteger(image.imageId),
    "image.imageId",
    image.imageId,
    "the image's id, a whole number",
    null,
  );
  return placed.map(([{ class_id, confidence, keypoints, mask }, ...bbox]) => {
    const { imageId, categories, width, height } = image;
    const category_id = categories ? categories[class_id] : class_id;
    need(
      Number.isSafeInteger(category_id),
      "categories",
      categories,
      `an id for class ${class_id}, a whole number`,
      null,
    );
    need(!mask || `${mask.size}` === `${[height, width]}`, "mask", mask?.size, [height, width], null);
    return {
      image_id: imageId,
      category_id,
      bbox,
      score: confidence,
      ...(keypoints && {
        keypoints: keypoints.flatMap(({ x, y }) =>
          Number.isFinite(x) && Number.isFinite(y) ? [x * width, y * height, 1] : [0, 0, 0],
        ),
      }),
      ...(mask && { segmentation: mask }),
    };
  });
}

/**
 * Returns detections as a response of Roboflow's inference servers. `supervision.Detections.from_inference` reads the
 * response.
 * @param id name of the frame: a `detection_id` is this name, a hyphen and the row
 * @throws PacketError if the image has no size
 * @example
 * import { toRoboflow } from "boxwright";
 *
 * const cat = { class_id: 1, label: "cat", confidence: 0.5, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 };
 * const { predictions } = toRoboflow([cat], { width: 640, height: 480 }, "frame-7");
 * console.log(predictions[0].x, predictions[0].y, predictions[0].detection_id); // 320 360 frame-7-0
 */
export function toRoboflow(
  detections: DetectionList<MaskedFields>,
  image: ImageSize,
  id = "frame",
): RoboflowPredictions {
  need(["string", "number", "bigint"].includes(typeof id), "id", id, "text that names the frame", null);
  const predictions = inPixels(detections, image).map(([d, x, y, width, height], i) => ({
    x: x + width / 2,
    y: y + height / 2,
    width,
    height,
    confidence: d.confidence,
    class: d.label,
    class_id: d.class_id,
    detection_id: `${id}-${i}`,
  }));
  return { image: { width: image.width, height: image.height }, predictions };
}

/**
 * Returns detections as the columns of `supervision.Detections`. In Python: `sv.Detections(xyxy=np.array(f["xyxy"],
 * dtype=np.float32).reshape(-1, 4), ...)`, each list as an array.
 * @throws PacketError if the image has no size
 * @example
 * import { toSupervision } from "boxwright";
 *
 * const cat = { class_id: 1, label: "cat", confidence: 0.5, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 };
 * console.log(toSupervision([cat], { width: 640, height: 480 }).xyxy); // [[160,240,480,480]]
 */
export function toSupervision(detections: DetectionList<MaskedFields>, image: ImageSize): SupervisionFrame {
  const all = inPixels(detections, image);
  return {
    xyxy: all.map(([, x, y, width, height]) => [x, y, x + width, y + height]),
    confidence: all.map(([d]) => d.confidence),
    class_id: all.map(([d]) => d.class_id),
    data: { class_name: all.map(([d]) => d.label) },
  };
}
