/** Stores raw packets as safetensors files. */
import { parseJson } from "../../core/json.ts";
import { TensorError } from "../../core/errors.ts";
import { readAttributes, envelopeOf, eventType } from "../../packet/envelope.ts";
import { need } from "../../packet/error.ts";
import { Packet } from "../../packet/packet.ts";
import { readFrame } from "../../packet/read.ts";
import type { PacketTensor, WireType } from "../../packet/wire.ts";
import { readSafetensors, writeSafetensors } from "./safetensors.ts";
import type { FileElementType, NamedTensor } from "./tensor.ts";

/** Element type in files for each element type in packets. safetensors files have no uint64. */
const FILE_TYPES: { readonly [T in Exclude<WireType, "uint64">]: FileElementType } = {
  fp32: "f32",
  fp16: "f16",
  uint8: "u8",
  int8: "i8",
  int16: "i16",
  int32: "i32",
  uint32: "u32",
  int64: "i64",
  fp64: "f64",
};
const WIRE_TYPES = Object.entries(FILE_TYPES) as [WireType, FileElementType][];

/**
 * Writes a raw packet as a safetensors file. The metadata contain the packet's attributes, under the names of its
 * headers, and the frame as JSON.
 * @throws RangeError for a detection packet, which is JSON already. TensorError for uint64
 * @example
 * import { createDecoderSync, fromPacket, toPacket } from "boxwright";
 * import { readPacketFile, writePacketFile } from "boxwright/node";
 *
 * const outputs = { output0: { data: Float32Array.of(1, 2, 3), dims: [1, 3, 1] } };
 * const about = { id: "1", source: "/devices/7" };
 * const packet = fromPacket(toPacket(createDecoderSync({}), outputs, null, about));
 * const again = readPacketFile(writePacketFile(packet));
 * console.log(again.source, again.tensors[0].data[2]); // /devices/7 3
 */
export function writePacketFile(packet: Packet): Uint8Array {
  need(
    packet.kind === "raw",
    "kind",
    packet.kind,
    "a raw packet. The bytes of the other kind are JSON: keep them",
    null,
  );
  const tensors = packet.tensors.map(({ name, data, dims, type, scale, zeroPoint, order }) => {
    const fileType = FILE_TYPES[type as keyof typeof FILE_TYPES] as FileElementType | undefined;
    if (fileType === undefined)
      throw new TensorError(`tensor "${name}": got type ${type}, expected a type that safetensors has`);
    return { name, data, dims: [...dims], type: fileType, scale, zeroPoint, order } as NamedTensor;
  });
  const { id, source, subject, time, sequence, traceparent, config } = packet;
  const given = {
    id,
    source,
    subject,
    time,
    sequence: sequence && String(sequence).padStart(16, "0"),
    traceparent,
    config,
  };
  const metadata: Record<string, string> = { "ce-specversion": "1.0", "ce-type": eventType("raw") };
  for (const [name, value] of Object.entries(given))
    if (value !== null) metadata[`ce-${name}`] = String(value);
  if (packet.frame !== null) metadata.frame = JSON.stringify(packet.frame);
  return writeSafetensors(tensors, metadata);
}

/**
 * Reads a safetensors file as a packet. Files of other programs give packets without attributes.
 * @throws TensorError if the file is damaged; PacketError if the attributes in its metadata are invalid
 * @example
 * import { readPacketFile, writeSafetensors } from "boxwright/node";
 *
 * const file = writeSafetensors([{ name: "output0", type: "f32", dims: [1, 2], data: Float32Array.of(1, 2) }]);
 * const packet = readPacketFile(file);
 * console.log(packet.kind, packet.id, packet.tensors[0].name); // raw null output0
 */
export function readPacketFile(bytes: Uint8Array): Packet {
  const { tensors, metadata } = readSafetensors(bytes);
  const { frame } = metadata;
  const isOwn = metadata["ce-type"] === eventType("raw");
  return new Packet(
    envelopeOf(readAttributes(isOwn ? metadata : {}, "ce-", "foreign", isOwn, "metadata.ce-")),
    {
      kind: "raw",
      frame: isOwn ? readFrame(parsed(frame)) : null,
      tensors: tensors.map((t) => {
        const [wireType] = WIRE_TYPES.find(([, type]) => type === t.type) ?? [];
        if (wireType === undefined)
          throw new TensorError(`tensor "${t.name}": got type ${t.type}, which no decoder reads`);
        return { ...t, type: wireType } as PacketTensor;
      }),
      detections: null,
      sources: [],
    },
  );
}

const parsed = (text: string | undefined): unknown => (text === undefined ? null : parseJson(text, text));
