/** Decoders of text: forms of the map, frames, both rules, and bad input. */
import { expect, test } from "vitest";
import { createDecoderSync, fromPacket, toPacket, toPixels } from "../../../src/entries/index.ts";
import { about } from "../../packet/support.ts";
import { engines } from "../../support/engines.ts";

/** A map of 64 x 32 pixels with one line of text, from (10, 12) to (49, 19). */
function line(): Float32Array {
  const map = new Float32Array(64 * 32);
  for (let y = 12; y < 20; y++) map.fill(0.875, y * 64 + 10, y * 64 + 50);
  return map;
}
const tensor = { data: line(), dims: [1, 1, 32, 64] };

/** Pixels by which the line grows: area x 1.5 / perimeter. */
const GROW = (39 * 7 * 1.5) / (2 * (39 + 7));

test("a line of text has corners, an angle and an upright box around it", () => {
  for (const engine of engines)
    for (const dims of [
      [1, 1, 32, 64],
      [1, 32, 64, 1],
      [1, 32, 64],
    ]) {
      const [text] = createDecoderSync({ family: "dbnet", labels: ["text"] }, { engine }).decode({
        map: { data: line(), dims },
      });
      expect(text.label).toBe("text");
      expect(text.confidence).toBeCloseTo(0.875, 6);
      expect(text.angle).toBe(0);
      const [upperLeft, upperRight, lowerRight] = text.corners ?? [];
      expect(upperLeft.x * 64).toBeCloseTo(10 - GROW, 4);
      expect(upperRight.x * 64).toBeCloseTo(49 + GROW, 4);
      expect(lowerRight.y * 32).toBeCloseTo(19 + GROW, 4);
      expect(text.x_min).toBe(upperLeft.x);
      // The width lies along the angle, though the corners begin at another one than those of oriented boxes.
      const { width, height } = toPixels(text, 64, 32);
      expect(width).toBeCloseTo(39 + 2 * GROW, 3);
      expect(height).toBeCloseTo(lowerRight.y * 32 - upperLeft.y * 32, 3);
    }
});

test("i8 maps are read with their scale", () => {
  const data = Int8Array.from(line(), (p) => Math.round(p * 256) - 128);
  const [text] = createDecoderSync({ family: "dbnet" }).decode({
    map: { data, dims: [1, 1, 32, 64], scale: 1 / 256, zeroPoint: -128 },
  });
  expect(text.confidence).toBeCloseTo(0.875, 6);
});

test("a letterbox is undone, and the angle is that in the picture", () => {
  const decoder = createDecoderSync({ family: "dbnet", inputSize: [64, 32] });
  const [text] = decoder.decode(tensor, { width: 32, height: 32, resize: "letterbox" });
  // The picture is 32 x 32 in the middle.
  expect(text.corners?.[0].x).toBeCloseTo((10 - GROW - 16) / 32, 5);
  expect(text.angle).toBe(0);
});

test("a picture on its side: corners are those of the picture that was delivered", () => {
  const decoder = createDecoderSync({ family: "dbnet", inputSize: [64, 32] });
  const [upright] = decoder.decode(tensor).toArray();
  for (const rotation of [1, 2, 3] as const) {
    const size = rotation === 2 ? { width: 64, height: 32 } : { width: 32, height: 64 };
    const [text] = decoder.decode(tensor, { ...size, resize: "stretch", rotation }).toArray();
    // Turning the delivered picture clockwise makes it upright.
    const back = (text.corners ?? []).map(
      ({ x, y }) =>
        [
          [1 - y, x],
          [1 - x, 1 - y],
          [y, 1 - x],
        ][rotation - 1],
    );
    upright.corners?.forEach(({ x, y }, k) => {
      expect(back[k][0]).toBeCloseTo(x, 6);
      expect(back[k][1]).toBeCloseTo(y, 6);
    });
    const around = [Math.min, Math.max].flatMap((most) =>
      (["x", "y"] as const).map((axis) => most(...(text.corners ?? []).map((p) => p[axis]))),
    );
    [text.x_min, text.y_min, text.x_max, text.y_max].forEach((edge, k) =>
      expect(edge).toBeCloseTo(around[k], 6),
    );
    // The line stands on its side now: its long side is along y.
    const { width, height } = toPixels(text, size.width, size.height);
    const sides = [width, height].sort((a, b) => a - b);
    expect(sides[1]).toBeCloseTo(39 + 2 * GROW, 3);
    expect(text.angle).toBe(upright.angle);
  }
});

test("texts of a frame travel in a packet", () => {
  const decoder = createDecoderSync({ family: "dbnet" });
  const found = decoder.decode(tensor);
  const rows = found.toArray();
  const packet = fromPacket(toPacket(decoder, found, null, about));
  expect(
    decoder
      .receive(packet)
      .toArray()
      .map((d) => d.corners),
  ).toEqual(rows.map((d) => d.corners));
});

test("the rule of depthai widens by the root of 2 and rounds the angle", () => {
  const decoder = createDecoderSync({ family: "dbnet", textRule: "depthai", confidenceThreshold: 0.5 });
  const [text] = decoder.decode(tensor);
  const [a, b, c] = text.corners ?? [];
  // The dilated line is 41 x 9 pixels wide and high, from centre to centre.
  expect((b.x - a.x) * 64).toBeCloseTo(41 * Math.SQRT2, 4);
  expect((c.y - b.y) * 32).toBeCloseTo(9 * Math.SQRT2, 4);
  expect(decoder.describe().text).toContain(
    "above 0.25 in a 64x32 map, as PPTextDetectionParser of depthai-nodes",
  );
});

test("logits, other shapes and another input are refused", () => {
  const decode = (data: Float32Array, dims: readonly number[], inputSize?: [number, number]): unknown =>
    createDecoderSync({ family: "dbnet", ...(inputSize && { inputSize }) }).decode({ map: { data, dims } });
  const logits = line();
  logits[500] = 3;
  expect(() => decode(logits, [1, 1, 32, 64])).toThrow("values from 0 to 3, expected probabilities in 0..1");
  expect(() => decode(line(), [1, 2, 32, 32])).toThrow("one map of text probabilities, [1,1,h,w]");
  expect(() => decode(line(), [1, 1, 64, 32], [64, 32])).toThrow(
    "in the proportions of the input 64x32 (width x height)",
  );
});

test("NaN is noted", () => {
  const notes: string[] = [];
  const decoder = createDecoderSync({ family: "dbnet" }, { onNote: (note) => notes.push(note) });
  const data = line();
  data[0] = NaN;
  expect(decoder.decode({ map: { data, dims: [1, 1, 32, 64] } }).length).toBe(1);
  expect(notes.join()).toContain("NaN, which belongs to no text");
});

test("options of the other rule are refused", () => {
  expect(() => createDecoderSync({ family: "dbnet", textRule: "depthai", unclipRatio: 2 })).toThrow(
    "unclipRatio",
  );
});
