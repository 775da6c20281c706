/** Packets of networks that give more than boxes: keypoints, oriented boxes, masks. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import {
  type Detections,
  PacketError,
  createDecoderSync,
  fromPacket,
  toCoco,
  toPacket,
} from "../../src/entries/index.ts";
import { about, frame, tasks, withFormat } from "./support.ts";

const { pose, oriented, segment } = tasks;
const columns = ({ boxes, keypoints, keypointNames, edges, angles, corners }: Detections): object => ({
  boxes,
  keypoints,
  keypointNames,
  edges,
  angles,
  corners,
});
type Json = Record<string, unknown>;
const jsonOf = (bytes: Uint8Array): { data: { detections: Json[] } } =>
  JSON.parse(new TextDecoder().decode(bytes)) as { data: { detections: Json[] } };
const bytesOf = (json: object): Uint8Array => new TextEncoder().encode(JSON.stringify(json));

const POINT = { x: 0.5, y: 0.5, confidence: 1 };
const WRONG_POINTS = [
  { keypoints: 5 },
  { keypoints: [] },
  { keypoints: [POINT] },
  { keypoints: [POINT, null] },
  { keypoints: [POINT, 5] },
  { keypoints: [POINT, { ...POINT, y: "1" }] },
  { keypoints: [POINT, { y: 1, confidence: 1 }] },
  { keypoints: [POINT, { x: 1, y: 1 }] },
];
const WRONG_CORNERS = [
  { corners: {} },
  { corners: [POINT] },
  { corners: [POINT, POINT, POINT, null] },
  { corners: [POINT, POINT, POINT, [0, 0]] },
  { angle: "0" },
  { angle: null },
];

describe.each([
  ["keypoints", pose, WRONG_POINTS],
  ["oriented boxes", oriented, WRONG_CORNERS],
] as const)("%s", (_, { config, outputs }, wrong) => {
  const decoder = createDecoderSync(config);
  const expected = decoder.decode(outputs, frame).copy();
  const packetAs = (kind: "raw" | "detection"): Uint8Array =>
    toPacket(withFormat(decoder, kind), outputs, frame, about);

  test("a raw and a decoded packet give the columns and objects of the sender", () => {
    expect(expected.length).toBeGreaterThan(1);
    for (const kind of ["raw", "detection"] as const) {
      const found = createDecoderSync(config).receive(fromPacket(packetAs(kind)));
      const local = columns(expected);
      expect(columns(found.copy()), kind).toEqual(local);
      expect(found.toArray()).toEqual(expected.toArray());
      expect(columns(structuredClone(found.copy()) as Detections)).toEqual(local);
    }
  });

  test("the record keeps to the schema", () => {
    const ajv = new Ajv2020({ strict: false });
    for (const kind of ["raw", "detection"])
      ajv.addSchema(
        JSON.parse(
          readFileSync(new URL(`../../docs/packet-${kind}.schema.json`, import.meta.url), "utf8"),
        ) as object,
      );
    const validate = ajv.getSchema("packet-detection.schema.json");
    const event = jsonOf(packetAs("detection"));
    expect(validate?.(event), JSON.stringify(validate?.errors)).toBe(true);
    const key = "keypoints" in event.data.detections[0] ? "keypoints" : "corners";
    event.data.detections[0][key] = [{ x: "left", y: 0 }];
    expect(validate?.(event)).toBe(false);
  });

  test.each<object>(wrong)("%j is refused", (change) => {
    const event = jsonOf(packetAs("detection"));
    Object.assign(event.data.detections[1], change);
    const run = (): unknown => decoder.receive(fromPacket(bytesOf(event)));
    expect(run).toThrow(PacketError);
    expect(run).toThrow(/^packet is foreign: detections\[1\]\.(keypoints|corners): got .*, expected /);
  });

  test("records that differ in what they have are refused", () => {
    const event = jsonOf(packetAs("detection"));
    const [, second] = event.data.detections;
    delete second.keypoints;
    delete second.corners;
    const packet = fromPacket(bytesOf(event));
    expect(() => decoder.receive(packet)).toThrow(PacketError);
    expect(() => decoder.receive(packet)).toThrow(
      /foreign: detections\[1\]\.(keypoints|corners): got .*, expected /,
    );
  });

  test("a frame without detections has the columns too", () => {
    const strict = createDecoderSync({ ...config, confidenceThreshold: 0.99 });
    const found = strict.receive(fromPacket(toPacket(strict, strict.decode(outputs), null, about)));
    expect(found.length).toBe(0);
    // Names travel with the points.
    const local = { ...strict.decode(outputs).copy(), keypointNames: undefined };
    expect(columns(found)).toEqual(columns(local as unknown as Detections));
  });
});

test("the record of a keypoint and of a corner has these fields, in this order", () => {
  const record = (network: typeof pose | typeof oriented): Json => {
    const decoder = createDecoderSync(network.config);
    return jsonOf(toPacket(decoder, decoder.decode(network.outputs), null, about)).data.detections[0];
  };
  const plain = ["class_id", "label", "confidence", "x_min", "y_min", "x_max", "y_max"];
  const posed = record(pose);
  expect(Object.keys(posed)).toEqual([...plain, "keypoints"]);
  expect(posed.keypoints).toEqual([
    { x: 0.25, y: 0.5, confidence: 0.75, name: "nose" },
    { x: 0.75, y: 0.25, confidence: 0.5, name: "tail" },
  ]);
  const turned = record(oriented);
  expect(Object.keys(turned)).toEqual([...plain, "angle", "corners"]);
  expect((turned.corners as object[]).length).toBe(4);
});

test("COCO results have keypoints in pixels: x, y, 1", () => {
  const decoder = createDecoderSync(pose.config);
  const [first] = toCoco(decoder.decode(pose.outputs), { imageId: 7, width: 640, height: 480 });
  expect(first).toMatchObject({ image_id: 7, keypoints: [160, 240, 1, 480, 120, 1] });
  const [boxes] = toCoco(createDecoderSync(oriented.config).decode(oriented.outputs), {
    imageId: 7,
    width: 640,
    height: 480,
  });
  expect(boxes).not.toHaveProperty("keypoints");
});

test("a keypoint that is NaN stays NaN", () => {
  const data = pose.outputs.output0.data.slice();
  data[5 * pose.cells] = NaN;
  const decoder = createDecoderSync(pose.config);
  const found = decoder.decode({ output0: { ...pose.outputs.output0, data } }).copy();
  expect(found.keypoints?.[0]).toBeNaN();
  const back = decoder.receive(fromPacket(toPacket(decoder, found, null, about)));
  expect(back.keypoints).toEqual(found.keypoints);
});

test("a raw packet of a segmentation network keeps its masks, a decoded one has boxes", () => {
  const { config, outputs } = segment;
  const decoder = createDecoderSync(config);
  const raw = fromPacket(toPacket(withFormat(decoder, "raw"), outputs, frame, about));
  const host = createDecoderSync(config);
  const found = host.receive(raw);
  const local = decoder.decode(outputs, frame);
  expect(found.length).toBe(2);
  for (let i = 0; i < 2; i++)
    for (const size of ["prototype", "network", "frame"] as const) {
      const mask = found.mask(i, { size });
      expect(mask.area).toBeGreaterThan(0);
      expect(mask.toRle()).toEqual(local.mask(i, { size }).toRle());
    }
  const decoded = host.receive(fromPacket(toPacket(decoder, local, frame, about)));
  expect(decoded.toArray()).toEqual(local.toArray());
  expect(() => decoded.mask(0)).toThrow(TypeError);
});

test("COCO results carry the runs of masks, and refuse those of another size", () => {
  const { config, outputs } = segment;
  const found = createDecoderSync(config).decode(outputs, frame);
  const image = { imageId: 1, ...frame };
  const masked = (size: "frame" | "prototype"): object[] =>
    toCoco(
      found.toArray().map((d, i) => ({ ...d, mask: found.mask(i, { size }).toRle() })),
      image,
    );
  expect(masked("frame")).toMatchObject(
    [0, 1].map((i) => ({ segmentation: found.mask(i, { size: "frame" }).toRle() })),
  );
  expect(toCoco(found, image)[0]).not.toHaveProperty("segmentation");
  expect(() => masked("prototype")).toThrow(/^mask: got \[\d+,\d+\], expected \d+,\d+/);
});
