/** Makes packets from a network's outputs or from detections. */
import { isRecord } from "../core/json.ts";
import type { TensorInput } from "../core/tensor.ts";
import type { Detections } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { Outputs } from "../decode/inputs.ts";
import { type DetectionList, rowsOf } from "../decode/rows.ts";
import { type PacketAbout, attributesOf } from "./envelope.ts";
import { classOf, need } from "./error.ts";
import type { PacketDecoder } from "./packet.ts";
import { readFrame, recordsOf } from "./read.ts";
import { bytesOf, padded } from "./text.ts";
import { ARRAY_CLASSES, DATATYPES, type WireArray, readTensor } from "./wire.ts";

/**
 * Makes the packet of one frame. If the decoder's config has `output_format` "detection", or `outputs` are detections
 * already, the packet holds detections. Else the packet holds the unchanged tensors, and the receiver decodes.
 *
 * A raw packet is a response of the Open Inference Protocol with the binary tensor extension. A detection packet is a
 * structured CloudEvent. `packetHeaders` returns the headers for HTTP or NATS.
 * @param decoder the decoder whose config applies; a device without a config passes a decoder made from `{}`
 * @param outputs the network's outputs for one image, as `decode` takes them; or the result of `decode`, a clone of the
 * result, or a list of detections. Each image of a batch needs its own packet
 * @param frame size of the original image in pixels, and how it was resized
 * @param about `id`, `source`, `subject` and `time` of the frame
 * @param into memory for the packet, at an address that is a multiple of 8. If absent or too short, the packet is
 * written to new memory
 * @returns the packet's bytes: the whole new memory, or the beginning of `into`
 * @throws PacketError if an argument is wrong; TensorError as from `decode`
 * @example
 * import { createDecoderSync, fromPacket, toPacket } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
 * const data = new Float32Array(5 * 84);
 * data.set([32, 20, 10, 8, 0.9].flatMap((value) => [value, ...Array(83).fill(0)]));
 * const frame = { width: 1280, height: 720, resize: "letterbox" } as const;
 * const about = { id: "frame-1", source: "/devices/7", subject: "door", time: new Date() };
 * const bytes = toPacket(decoder, { output0: { data, dims: [1, 5, 84] } }, frame, about);
 *
 * // on another machine, by the same config
 * const packet = fromPacket(bytes);
 * console.log(packet.kind, packet.subject, decoder.receive(packet).length); // raw door 1
 */
export function toPacket<Into extends ArrayBufferLike = ArrayBuffer>(
  decoder: PacketDecoder,
  outputs: Outputs | TensorInput | DetectionList,
  frame: Frame | null | undefined,
  about: PacketAbout,
  into?: Uint8Array<Into>,
): Uint8Array<ArrayBuffer | Into> {
  need(
    decoder?.config && outputs instanceof Object && (!into || classOf(into) === "Uint8Array"),
    "toPacket",
    [decoder, outputs, into].map(classOf),
    "a decoder, tensors or Detections, frame, about, a Uint8Array if any",
    null,
  );
  readFrame(frame, null);
  const { config, configHash } = decoder;
  const areFound = areDetections(outputs);
  if (areFound || config.outputFormat === "detection") {
    const found = areFound ? outputs : decoder.decode(outputs as Outputs, frame ?? undefined);
    const detections = recordsOf(found, "detections", null);
    // A list parsed from JSON has no sources.
    const { sources: cells = [] } = found as Partial<Detections>;
    need(
      Array.isArray(cells) || ArrayBuffer.isView(cells),
      "sources",
      cells,
      "a list of the cells' indices",
      null,
    );
    const sources = Array.from(cells).slice(0, detections.length);
    const data = { frame: frame ?? null, detections, sources };
    const attributes = attributesOf("detection", about, configHash, "");
    return pack({ ...attributes, datacontenttype: "application/json", data }, [], into);
  }

  const all = ("dims" in outputs ? [outputs] : outputs) as { readonly [name: string]: TensorInput };
  const parts = Object.entries(all).map(([key, t], place, { length }) => {
    const name = Array.isArray(all) ? (t?.name ?? `output${key}`) : key;
    return partOf(name, t, place, length, config.outputs?.find((o) => o.name === name)?.type);
  });
  need(parts.length, "outputs", outputs, "a tensor", null);
  const images = decoder.imagesIn?.(all) ?? 1;
  need(images === 1, "images in outputs", images, "1: make a packet of each image", null);
  // Write tensors with larger elements first. Every tensor is then aligned for its type, so a reader need not copy it.
  parts.sort((a, b) => b.data.BYTES_PER_ELEMENT - a.data.BYTES_PER_ELEMENT);
  const attributes = attributesOf("raw", about, configHash, "ce-");
  const head = {
    model_name: config.modelName ?? "boxwright",
    id: attributes["ce-id"],
    parameters: {
      frame: frame ? JSON.stringify(frame) : undefined,
      ...attributes,
    },
    outputs: parts.map((part) => part.head),
  };
  return pack(
    head,
    parts.map((part) => part.data),
    into,
  );
}

/** True for the result of `decode`, a clone, or a list of detections. An empty list counts as tensors. */
const areDetections = (given: object): boolean =>
  "toArray" in given ||
  rowsOf(given) !== given ||
  (Array.isArray(given) && given.length > 0 && given.every((d: unknown) => isRecord(d) && "class_id" in d));

/** Returns the JSON followed by the arrays. Writes to `into` if `into` is long enough, else to new memory. */
function pack<Into extends ArrayBufferLike>(
  json: object,
  arrays: readonly WireArray[],
  into: Uint8Array<Into> | undefined,
): Uint8Array<ArrayBuffer | Into> {
  const head = bytesOf(json);
  let at = padded(head.length);
  const length = arrays.reduce((sum, { byteLength }) => sum + byteLength, at);
  const isRoom = into && into.length >= length && into.byteOffset % 8 === 0;
  const bytes = isRoom ? into.subarray(0, length) : new Uint8Array(length);
  bytes.set(head);
  bytes.fill(32, head.length, at);
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return bytes;
}

/** A tensor that becomes part of a packet. */
interface Part {
  /** Fields of the JSON that describe the tensor. */
  readonly head: object;
  readonly data: WireArray;
}

function partOf(name: string, t: TensorInput, place: number, count: number, known?: string | null): Part {
  const { data, dims, type, scale, zeroPoint, order } = t ?? {};
  const array = data as WireArray | undefined;
  const datatype = datatypeOf(data, type ?? (Array.isArray(data) ? "f32" : (known ?? "")));
  // JSON leaves out fields that are undefined.
  const parameters = {
    binary_data_size: array?.byteLength,
    scale: scale ?? undefined,
    zero_point: zeroPoint ?? undefined,
    order: order ?? undefined,
    place,
  };
  const head = { name, shape: dims, datatype: datatype ?? classOf(data), parameters };
  // Check with the reader's function, which also converts a list to an array.
  const [, , values] = readTensor({ ...head, data }, place, count, `tensor "${name}"`, null);
  if (values) parameters.binary_data_size = values.byteLength;
  return { head, data: values ?? (array as WireArray) };
}

/**
 * Returns the protocol's datatype for an array or a list of numbers. Returns undefined if the protocol has none. The
 * stated `typeName` determines the type of a list, and decides between types of the same element size (f16 and i16, u8
 * and i8).
 */
function datatypeOf(data: unknown, typeName: string): string | undefined {
  const isList = Array.isArray(data);
  const width = isList
    ? Number(/\d*$/.exec(typeName)) / 8 || 4
    : (data as WireArray | null)?.BYTES_PER_ELEMENT;
  let [letter] = classOf(data).replace("Big", "");
  // A Uint16Array holds the bits of f16.
  if (letter + width === "U2") letter = "F";
  if ((isList || (width as number) < 3) && /^[fiu]/i.test(typeName)) letter = typeName[0].toUpperCase();
  return DATATYPES.find((name) => name[0] === letter && ARRAY_CLASSES[name].BYTES_PER_ELEMENT === width);
}
