/**
 * `boxwright` in Node. Loads the code of decoders at once, and the code of every other function at its first call. This
 * saves a third of the start. index.ts has the types, and a test compares the names of both files.
 */
import { later } from "../whole/later.ts";

export * from "./shared.ts";
export { createDecoder, createDecoderSync } from "../whole/node.ts";
export { parseConfig } from "../whole/parse-config.ts";
export { DrawError } from "../picture/drawn.ts";
export { COCO80, COCO91, VOC20, VOC21 } from "../core/labels.ts";
export {
  BLAZEFACE6_NAMES,
  BODY33_EDGES,
  BODY33_NAMES,
  COCO17_EDGES,
  COCO17_NAMES,
  FACE5_NAMES,
  HAND21_EDGES,
  HAND21_NAMES,
  PALM7_NAMES,
  PERSON4_NAMES,
} from "../core/keypoints.ts";
export { Packet } from "../packet/packet.ts";
export { PacketError } from "../packet/error.ts";

export const createDetector = /* @__PURE__ */ later("createDetector");
export const liteRt = /* @__PURE__ */ later("liteRt");
export const onnxRuntime = /* @__PURE__ */ later("onnxRuntime");
export const tfjs = /* @__PURE__ */ later("tfjs");
export const tflite = /* @__PURE__ */ later("tflite");
export const webnn = /* @__PURE__ */ later("webnn");
export const prepareImage = /* @__PURE__ */ later("prepareImage");
export const drawCanvas = /* @__PURE__ */ later("drawCanvas");
export const drawSvg = /* @__PURE__ */ later("drawSvg");
export const readModel = /* @__PURE__ */ later("readModel");
export const labelsOf = /* @__PURE__ */ later("labelsOf");
export const cropOf = /* @__PURE__ */ later("cropOf");
export const nextCropOf = /* @__PURE__ */ later("nextCropOf");
export const blazefaceAnchors = /* @__PURE__ */ later("blazefaceAnchors");
export const caffePriors = /* @__PURE__ */ later("caffePriors");
export const efficientdetPriors = /* @__PURE__ */ later("efficientdetPriors");
export const ssdAnchors = /* @__PURE__ */ later("ssdAnchors");
export const ssdMobilenetAnchors = /* @__PURE__ */ later("ssdMobilenetAnchors");
export const ultrafacePriors = /* @__PURE__ */ later("ultrafacePriors");
export const nms = /* @__PURE__ */ later("nms");
export const suppress = /* @__PURE__ */ later("suppress");
export const suppressDetections = /* @__PURE__ */ later("suppressDetections");
export const fuse = /* @__PURE__ */ later("fuse");
export const nmsOriented = /* @__PURE__ */ later("nmsOriented");
export const orientedIou = /* @__PURE__ */ later("orientedIou");
export const cornersOf = /* @__PURE__ */ later("cornersOf");
export const fitCorners = /* @__PURE__ */ later("fitCorners");
export const regularise = /* @__PURE__ */ later("regularise");
export const masksOf = /* @__PURE__ */ later("masksOf");
export const classMap = /* @__PURE__ */ later("classMap");
export const mapOptions = /* @__PURE__ */ later("mapOptions");
export const valueMap = /* @__PURE__ */ later("valueMap");
export const labelMap = /* @__PURE__ */ later("labelMap");
export const tiles = /* @__PURE__ */ later("tiles");
export const createTileMerger = /* @__PURE__ */ later("createTileMerger");
export const mergeTiles = /* @__PURE__ */ later("mergeTiles");
export const createTracker = /* @__PURE__ */ later("createTracker");
export const toPacket = /* @__PURE__ */ later("toPacket");
export const fromPacket = /* @__PURE__ */ later("fromPacket");
export const packetHeaders = /* @__PURE__ */ later("packetHeaders");
export const toCoco = /* @__PURE__ */ later("toCoco");
export const toRoboflow = /* @__PURE__ */ later("toRoboflow");
export const toSupervision = /* @__PURE__ */ later("toSupervision");
