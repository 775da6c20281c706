/** `boxwright/packet`: frames as they travel from a device to a host, raw or decoded, and formats of other projects. */
export { toPacket } from "../packet/write.ts";
export { type PacketOptions, fromPacket } from "../packet/read.ts";
export { type DetectionsOf, Packet, type PacketContent, type PacketDecoder } from "../packet/packet.ts";
export { packetHeaders } from "../packet/headers.ts";
export {
  type CocoImage,
  type CocoResult,
  type ImageSize,
  type RoboflowPrediction,
  type RoboflowPredictions,
  type SupervisionFrame,
  toCoco,
  toRoboflow,
  toSupervision,
} from "../packet/export.ts";
export { PacketError, type PacketErrorKind } from "../packet/error.ts";
export type { MaskedFields } from "../decode/detections.ts";
export type { Envelope, PacketAbout, PacketKind } from "../packet/envelope.ts";
export type { PacketTensor, WireArray, WireType } from "../packet/wire.ts";
