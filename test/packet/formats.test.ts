/** Packets in the eyes of others: JSON Schemas, the CloudEvents SDK, safetensors, runtimes without TextDecoder. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { HTTP } from "cloudevents";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  PacketError,
  createDecoderSync,
  fromPacket,
  packetHeaders,
  toPacket,
} from "../../src/entries/index.ts";
import {
  readPacketFile,
  readSafetensors,
  writePacketFile,
  writeSafetensors,
} from "../../src/entries/node.ts";
import { about, cases, decoderOf, frame, outputsOf, smallNetwork, withFormat } from "./support.ts";

const { config, outputs } = smallNetwork();
const decoder = createDecoderSync({ ...config, labels: ["café ☕"] });
const odd = { ...about, id: '50 % "now"', subject: "entrée \u{1f6aa}" };
const raw = toPacket(decoder, outputs, frame, odd);
const decoded = toPacket(decoder, decoder.decode(outputs, frame), frame, odd);

// Fields of a packet's JSON as the tests walk through them.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

/** Returns the JSON that a packet begins with. */
function jsonOf(bytes: Uint8Array): Json {
  const length = packetHeaders(bytes)["inference-header-content-length"] ?? bytes.length;
  return JSON.parse(new TextDecoder().decode(bytes.subarray(0, Number(length)))) as Json;
}

describe("JSON Schemas in docs/", () => {
  const schema = (kind: string): object =>
    JSON.parse(
      readFileSync(new URL(`../../docs/packet-${kind}.schema.json`, import.meta.url), "utf8"),
    ) as object;
  const ajv = new Ajv2020({ strict: true, schemas: [schema("raw")] });
  const check = (kind: string, json: object): string[] => {
    const validate = ajv.getSchema(`packet-${kind}.schema.json`) ?? ajv.compile(schema(kind));
    validate(json);
    return (validate.errors ?? []).map((e) => `${e.instancePath} ${e.message}`);
  };

  test.each(cases.map((c) => [c.name, c] as const))("both packets of %s", (_, c) => {
    const local = decoderOf(c);
    for (const kind of ["raw", "detection"] as const) {
      const bytes = toPacket(withFormat(local, kind), outputsOf(c), null, about);
      expect(check(kind, jsonOf(bytes))).toEqual([]);
    }
  });
  test("frames, and names beyond ASCII", () => {
    expect(check("raw", jsonOf(raw))).toEqual([]);
    expect(check("detection", jsonOf(decoded))).toEqual([]);
  });
  test("they refuse what readers refuse", () => {
    const json = jsonOf(decoded);
    expect(check("detection", { ...json, id: "" })).toHaveLength(1);
    expect(check("detection", { ...json, specversion: "0.3" })).toHaveLength(1);
    expect(check("detection", { ...json, data: { ...json.data, detections: [{}] } })[0]).toMatch(/class_id/);
    expect(check("raw", { ...jsonOf(raw), outputs: [] })).toHaveLength(1);
    expect(check("raw", json)).not.toEqual([]);
  });
});

describe("the CloudEvents SDK", () => {
  test("reads a raw packet in binary mode", () => {
    const headers = packetHeaders(raw);
    // Headers are ASCII without spaces: nothing in them ends a line.
    for (const value of Object.values(headers)) expect(value).toMatch(/^[!-~]+$/);
    const event = HTTP.toEvent({ headers, body: Buffer.from(raw) }) as Json;
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({
      type: "boxwright.raw.v1",
      source: about.source,
      config: decoder.configHash,
    });
    expect(decodeURIComponent(event.id)).toBe(odd.id);
    expect(decodeURIComponent(event.subject)).toBe(odd.subject);
    expect(Buffer.from(event.data).equals(Buffer.from(raw))).toBe(true);
  });
  test("reads a detection packet in structured mode", () => {
    const body = new TextDecoder().decode(decoded);
    const event = HTTP.toEvent({ headers: packetHeaders(decoded), body }) as Json;
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({ id: odd.id, subject: odd.subject, sequence: "0000000000000017" });
    expect(event.time).toBe(about.time);
    expect(event.data.detections[0].label).toBe("café ☕");
  });
});

test("a client of the Open Inference Protocol finds the tensor behind the stated length", () => {
  const head = Number(packetHeaders(raw)["inference-header-content-length"]);
  const [{ name, shape, datatype, parameters }] = jsonOf(raw).outputs;
  expect([name, shape, datatype, parameters.binary_data_size]).toEqual([
    "output0",
    [1, 5, 84],
    "FP32",
    4 * 5 * 84,
  ]);
  const bytes = raw.subarray(head, head + parameters.binary_data_size);
  expect(head % 8).toBe(0);
  expect(bytes.length + head).toBe(raw.length);
  expect(new Float32Array(bytes.buffer, head)).toEqual(outputs.output0.data);
});

describe("safetensors", () => {
  test.each(cases.map((c) => [c.name, c] as const))("%s comes back from its file", (_, c) => {
    const local = decoderOf(c);
    const packet = fromPacket(toPacket(withFormat(local, "raw"), outputsOf(c), null, about));
    const again = readPacketFile(writePacketFile(packet));
    expect({ ...again, tensors: [] }).toEqual({ ...packet, tensors: [] });
    // The file sorts by width. Names carry the order.
    const byName = (p: typeof packet): unknown => Object.fromEntries(p.tensors.map((t) => [t.name, t]));
    expect(byName(again)).toEqual(byName(packet));
    expect(local.receive(again).toArray()).toEqual(local.decode(outputsOf(c)).toArray());
  });
  test("attributes and frame stand in the metadata", () => {
    const { metadata } = readSafetensors(writePacketFile(fromPacket(raw)));
    expect(metadata).toMatchObject({
      "ce-id": odd.id,
      "ce-type": "boxwright.raw.v1",
      "ce-sequence": "0000000000000017",
    });
    expect(JSON.parse(metadata.frame)).toEqual(frame);
  });
  test("files of others have no attributes; damaged metadata are refused", () => {
    const tensor = { name: "a", type: "f32", dims: [1], data: Float32Array.of(1) } as const;
    const file = (metadata: Record<string, string>): Uint8Array =>
      writeSafetensors([{ ...tensor, dims: [1] }], metadata);
    expect(readPacketFile(file({ frame: "7", format: "pt" }))).toMatchObject({
      id: null,
      frame: null,
      kind: "raw",
    });
    const own = { "ce-type": "boxwright.raw.v1", "ce-id": "1", "ce-source": "s" };
    expect(readPacketFile(file(own)).id).toBe("1");
    for (const wrong of [{ "ce-id": "" }, { "ce-time": "noon" }, { frame: "{" }, { frame: '{"width":0}' }])
      expect(() => readPacketFile(file({ ...own, ...(wrong as object) })), JSON.stringify(wrong)).toThrow(
        PacketError,
      );
    const wide = writeSafetensors([{ name: "u", type: "u16", dims: [1], data: Uint16Array.of(1) }]);
    expect(() => readPacketFile(wide)).toThrow(/got type u16/);
  });
  test("detections and uint64 have no such file", () => {
    expect(() => writePacketFile(fromPacket(decoded))).toThrow(RangeError);
    const packet = fromPacket(
      toPacket(createDecoderSync({}), { a: { data: BigUint64Array.of(1n), dims: [1] } }, null, about),
    );
    expect(() => writePacketFile(packet)).toThrow(/got type uint64, expected a type that safetensors has/);
  });
});

describe("without TextDecoder, as in QuickJS and Hermes", () => {
  afterEach(() => vi.unstubAllGlobals());
  test("packets are read alike, also those with UTF-8 of other programs", () => {
    vi.stubGlobal("TextDecoder", undefined);
    expect(fromPacket(decoded).subject).toBe(odd.subject);
    const other = Buffer.from(
      '{"id":"50 % é ☕ \u{1f6aa}","outputs":[{"name":"ä","shape":[1],"datatype":"FP32","data":[1]}]}',
    );
    expect(fromPacket(other)).toMatchObject({ id: "50 % é ☕ \u{1f6aa}", tensors: [{ name: "ä" }] });
    other[other.indexOf(0xc3) + 1] = 0x20;
    expect(() => fromPacket(other)).toThrow(PacketError);
  });
});
