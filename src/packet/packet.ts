/** The class of packets that `fromPacket` returns. */
import type { Config } from "../config/types.ts";
import type { DetectionFields, Detections } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { Outputs } from "../decode/inputs.ts";
import type { Envelope, PacketKind } from "./envelope.ts";
import { PacketError, need } from "./error.ts";
import type { PacketTensor } from "./wire.ts";

/** The members of a decoder that packets need. */
export interface PacketDecoder {
  readonly config: Config;
  readonly configHash: string | null;
  /** Decodes one image, as `Decoder.decode` does. */
  decode(outputs?: Outputs, frame?: Frame): Detections;
  /** Returns how many images the outputs hold. */
  imagesIn?(outputs: Outputs): number;
}

/** Converts records to `Detections`. Decoders pass this function, so that packets need not import the class. */
export type DetectionsOf = (rows: readonly DetectionFields[], sources: readonly number[]) => Detections;

/** Content of a packet without its envelope. */
export interface PacketContent {
  /** "raw": `tensors` holds the network's outputs. "detection": `detections` holds the device's results. */
  readonly kind: PacketKind;
  /** Size of the original image, and how it was resized. Null: boxes are normalised to the network input. */
  readonly frame: Frame | null;
  /** The network's outputs; empty in a detection packet. */
  readonly tensors: readonly PacketTensor[];
  /** The device's detections, best first; null in a raw packet. */
  readonly detections: readonly DetectionFields[] | null;
  /** Index of the cell from which each detection comes. */
  readonly sources: readonly number[];
}

/**
 * One frame in transport: raw tensors or detections, in an envelope. `decoder.receive(packet)` returns the detections
 * for both kinds of packets. Made by `fromPacket`.
 * @example
 * import { type Packet, createDecoderSync, fromPacket, toPacket } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
 * const outputs = { output0: { data: new Float32Array(5 * 84), dims: [1, 5, 84] } };
 * const packet: Packet = fromPacket(toPacket(decoder, outputs, null, { id: "1", source: "/devices/7" }));
 * console.log(packet.tensors[0].dims.join("x"), packet.config === decoder.configHash); // 1x5x84 true
 */
export class Packet implements Envelope, PacketContent {
  // Only declare the fields: the constructor assigns them.
  declare readonly kind: PacketKind;
  declare readonly id: string | null;
  declare readonly source: string | null;
  declare readonly subject: string | null;
  declare readonly time: string | null;
  declare readonly sequence: number | null;
  declare readonly traceparent: string | null;
  declare readonly config: string | null;
  declare readonly frame: Frame | null;
  declare readonly tensors: readonly PacketTensor[];
  declare readonly detections: readonly DetectionFields[] | null;
  declare readonly sources: readonly number[];

  constructor(envelope: Envelope, content: PacketContent) {
    Object.assign(this, envelope, content);
  }

  /**
   * Returns the packet's detections. If the packet is raw, `decoder` decodes it. `decoder.receive(packet)` calls this
   * method.
   * @param detectionsOf converts records to columns
   * @throws PacketError if the packet was made with another config; TensorError if the packet's tensors do not fit the
   * decoder
   */
  detectionsBy(
    decoder: Pick<PacketDecoder, "configHash" | "decode">,
    detectionsOf: DetectionsOf,
  ): Detections {
    need(decoder?.decode, "decoder", decoder, "what createDecoder made", null);
    const decoderHash = decoder.configHash;
    need(
      !this.config || !decoderHash || this.config === decoderHash,
      "config",
      this.config,
      `${decoderHash}, the receiver's. Use the sender's config`,
      "other config",
    );
    try {
      return this.detections
        ? detectionsOf(this.detections, this.sources)
        : decoder.decode(this.tensors, this.frame ?? undefined);
    } catch (e) {
      // Report a wrong frame or record as a fault of the packet, since both come from the packet.
      throw e instanceof RangeError ? new PacketError("foreign", e.message) : e;
    }
  }
}
