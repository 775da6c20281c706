/**
 * A detector with a network of points behind it. Both networks are made here: the first one finds fixed boxes, the
 * second one reads the colours of its crop, so that points show which part of the picture it got.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  ConfigError,
  type Session,
  createDecoderSync,
  createDetector,
  cropOf,
  nextCropOf,
} from "../../src/entries/index.ts";
import type { Outputs } from "../../src/decode/inputs.ts";

const [WIDTH, HEIGHT] = [200, 100];

/** A picture whose red is x and whose green is y, in pixels. */
const picture = {
  data: Uint8Array.from({ length: WIDTH * HEIGHT * 4 }, (_, i) => {
    const pixel = i >> 2;
    return [pixel % WIDTH, Math.floor(pixel / WIDTH), 0, 255][i & 3];
  }),
  width: WIDTH,
  height: HEIGHT,
};

/** Returns a session of one input that computes its outputs from that input. */
function sessionOf(
  dims: readonly number[],
  run: (input: Float32Array, call: number) => Outputs,
  log: string[] = [],
  name = "network",
): Session {
  let call = 0;
  return {
    inputs: [{ name: "image", dims, type: "float32" }],
    overlaps: false,
    createLane({ dims: own }) {
      const input = new Float32Array(own.reduce((a, b) => a * b, 1));
      return {
        input: () => input,
        run: async () => {
          log.push(name);
          return Promise.resolve(run(input, call++));
        },
        release: () => undefined,
        close: () => log.push(`${name}: lane`),
      };
    },
    close: () => void log.push(`${name}: session`),
  };
}

type Box = readonly [x1: number, y1: number, x2: number, y2: number, score: number, classId: number];

/** Finds boxes, given in pixels of the picture. The input is as large as the picture. */
const boxNetwork = (boxes: (call: number) => readonly Box[], log?: string[]) => ({
  session: sessionOf(
    [1, 3, HEIGHT, WIDTH],
    (_, call) => {
      const rows = boxes(call);
      const data = new Float32Array(4 * 6);
      rows.forEach((row, i) => data.set(row, i * 6));
      return { output0: { data, dims: [1, 4, 6] } };
    },
    log,
    "boxes",
  ),
  config: { family: "yolov10", labels: ["person", "cat"], inputSize: [WIDTH, HEIGHT] },
});

const POSE_INPUT = [12, 16] as const;

/** Puts point k at fixed places of the crop: its left upper corner, and its middle. */
const poseNetwork = (log?: string[], crops: number[][] = []) => ({
  session: sessionOf(
    [1, 3, POSE_INPUT[1], POSE_INPUT[0]],
    (input) => {
      const plane = POSE_INPUT[0] * POSE_INPUT[1];
      // Red and green of the middle pixel of the crop.
      const middle = (POSE_INPUT[1] / 2) * POSE_INPUT[0] + POSE_INPUT[0] / 2;
      crops.push([input[middle], input[plane + middle]]);
      const x = new Float32Array(2 * 2 * POSE_INPUT[0]);
      const y = new Float32Array(2 * 2 * POSE_INPUT[1]);
      x[0] = y[0] = 0.75;
      x[2 * POSE_INPUT[0] + POSE_INPUT[0]] = 0.5;
      y[2 * POSE_INPUT[1] + POSE_INPUT[1]] = 0.25;
      return {
        simcc_x: { data: x, dims: [1, 2, 2 * POSE_INPUT[0]] },
        simcc_y: { data: y, dims: [1, 2, 2 * POSE_INPUT[1]] },
      };
    },
    log,
    "points",
  ),
  config: { family: "rtmpose", inputSize: POSE_INPUT, keypointNames: ["corner", "middle"] },
  options: { prepare: { mean: 0, std: 1 } },
});

const person: Box = [20, 20, 50, 60, 0.75, 0];
const other: Box = [100, 30, 130, 70, 0.9, 0];
const cat: Box = [150, 10, 190, 40, 0.8, 1];

describe("person and pose", () => {
  test("all boxes of a picture get their points, in one call", async () => {
    const crops: number[][] = [];
    const detector = await createDetector({
      ...boxNetwork(() => [other, person]),
      points: poseNetwork([], crops),
    });
    const found = await detector.detect(picture);
    expect(found.toArray().map((d) => [d.label, +d.confidence.toFixed(2)])).toEqual([
      ["person", 0.9],
      ["person", 0.75],
    ]);
    // The second crop: 40 x 1.25 high, 37.5 wide, around (35, 40).
    const [corner, middle] = found.at(1)?.keypoints ?? [];
    expect(corner.name).toBe("corner");
    expect(corner.x * WIDTH).toBeCloseTo(35 - 37.5 / 2, 4);
    expect(corner.y * HEIGHT).toBeCloseTo(40 - 25, 4);
    expect([middle.x * WIDTH, middle.y * HEIGHT].map(Math.round)).toEqual([35, 40]);
    expect(middle.confidence).toBe(0.25);
    // The first run is that of the blank picture.
    expect(crops.slice(1).map((c) => c.map(Math.round))).toEqual([
      [115, 50],
      [35, 40],
    ]);
    // Boxes are those of the detector, and the columns go together.
    expect(found.at(1)?.x_min).toBeCloseTo(0.1, 6);
    expect(found.keypoints).toHaveLength(2 * 2 * 3);
    expect(structuredClone(found.copy()).keypoints).toEqual(found.keypoints);
    expect(detector.points?.config.family).toBe("rtmpose");
    for (const time of Object.values(detector.timings)) expect(time).toBeGreaterThan(0);
    await detector.close();
  });

  test("keep chooses classes, most the best of them, and a picture may be empty", async () => {
    const boxes: readonly (readonly Box[])[] = [[], [other, cat, person], []];
    const make = (options: object) =>
      createDetector({ ...boxNetwork((call) => boxes[call]), points: poseNetwork() }, options);
    const people = await make({ keep: ["person"] });
    expect((await people.detect(picture)).toArray().map(({ label }) => label)).toEqual(["person", "person"]);
    const empty = await people.detect(picture);
    expect(empty.toArray()).toEqual([]);
    expect(empty.copy()).toHaveLength(0);
    const one = await make({ most: 1 });
    expect((await one.detect(picture)).toArray().map((d) => +d.confidence.toFixed(2))).toEqual([0.9]);
  });

  test.each([1, 2, 3] as const)("a picture that lies on its side by %s quarter turns", async (rotation) => {
    // The picture as it was delivered: `rotation` turns clockwise make it the upright one.
    const [width, height] = rotation === 2 ? [WIDTH, HEIGHT] : [HEIGHT, WIDTH];
    const data = new Uint8Array(width * height * 4);
    const place = (x: number, y: number): readonly [number, number] =>
      rotation === 1
        ? [y, height - 1 - x]
        : rotation === 2
          ? [width - 1 - x, height - 1 - y]
          : [width - 1 - y, x];
    for (let y = 0; y < HEIGHT; y++)
      for (let x = 0; x < WIDTH; x++) {
        const [sx, sy] = place(x, y);
        data.set([x, y, 0, 255], (sy * width + sx) * 4);
      }
    const seen = async (image: Parameters<Awaited<ReturnType<typeof createDetector>>["detect"]>[0]) => {
      const crops: number[][] = [];
      const network = { ...boxNetwork(() => [other, person]), points: poseNetwork([], crops) };
      const detector = await createDetector(network);
      return { found: (await detector.detect(image)).copy(), crops: crops.slice(1) };
    };
    const upright = await seen(picture);
    const turned = await seen({ data, width, height, rotation });
    // The network of points gets the same part of the picture. warpAffine counts from the middle of the first pixel,
    // which is the last one of a turned picture: a pixel of difference.
    turned.crops.forEach((colours, i) =>
      colours.forEach((value, k) => expect(Math.abs(value - upright.crops[i][k])).toBeLessThan(1.1)),
    );
    const back = (u: number, v: number): number[] =>
      rotation === 1 ? [v, 1 - u] : rotation === 2 ? [1 - u, 1 - v] : [1 - v, u];
    for (const [row, { keypoints = [] }] of upright.found.toArray().entries())
      keypoints.forEach(({ x, y }, k) => {
        const point = turned.found.at(row)?.keypoints?.[k];
        back(x, y).forEach((value, axis) => expect([point?.x, point?.y][axis]).toBeCloseTo(value, 5));
      });
    const pose = createDecoderSync({ family: "rtmpose", inputSize: POSE_INPUT });
    const record = { class_id: 0, label: "a", confidence: 1, x_min: 0.2, y_min: 0.2, x_max: 0.4, y_max: 0.4 };
    expect(() => cropOf(pose, record, { width, height, rotation: 90 as never })).toThrow(
      "cropOf: image.rotation: got 90, expected 0, 1, 2 or 3 quarter turns",
    );
  });

  test("a crop of less than a pixel is left out, one that is higher than a pixel is not", async () => {
    // A crop is 1.25 times as large as its box, and three quarters as wide as it is high.
    const boxes: Box[] = [
      [20, 20, 20.25, 20.5, 0.9, 0],
      [60, 20, 60.5, 20.9375, 0.8, 0],
    ];
    const detector = await createDetector({ ...boxNetwork(() => boxes), points: poseNetwork() });
    const found = await detector.detect(picture);
    expect(Array.from(found, ({ confidence }) => +confidence.toFixed(2))).toEqual([0.8]);
  });

  test("boxes without an area are left out", async () => {
    const detector = await createDetector({
      ...boxNetwork(() => [other, [30, 30, 30, 40, 0.8, 0]]),
      points: poseNetwork(),
    });
    expect(await detector.detect(picture)).toHaveLength(1);
  });
});

const HAND = 32;

/**
 * MediaPipe's hand: all points around the middle of the crop, point 9 above the wrist. It is there while the middle of
 * the crop is not black.
 */
const handNetwork = (log: string[]) => ({
  session: sessionOf(
    [1, HAND, HAND, 3],
    (input) => {
      const points = new Float32Array(63);
      for (let k = 0; k < 21; k++)
        points.set([HAND * (0.4 + (k % 3) / 10), HAND * (0.6 - (k % 5) / 20), 0], k * 3);
      points.set([HAND / 2, HAND * 0.75, 0], 0);
      const middle = 3 * ((HAND / 2) * HAND + HAND / 2);
      const isThere = input[middle] + input[middle + 1] > 0.05;
      return {
        Identity: { data: points, dims: [1, 63] },
        Identity_1: { data: [isThere ? 0.9 : 0.1], dims: [1, 1] },
        Identity_2: { data: [0.8], dims: [1, 1] },
        Identity_3: { data: new Float32Array(63), dims: [1, 63] },
      };
    },
    log,
    "points",
  ),
  config: { family: "hand-landmarks", inputSize: [HAND, HAND] },
});

describe("palm and hand", () => {
  test("a stream takes crops of the frame before, and the detector rests", async () => {
    const log: string[] = [];
    const detector = await createDetector(
      { ...boxNetwork((call) => (call === 0 ? [] : [person]), log), points: handNetwork(log) },
      { most: 1, warmUp: 1 },
    );
    log.length = 0;
    const black = { ...picture, data: new Uint8Array(picture.data.length) };
    const frames: string[] = [];
    const seen: (readonly number[])[] = [];
    for await (const found of detector.detectAll([picture, picture, picture, black, black, picture])) {
      frames.push(log.join(" "));
      log.length = 0;
      seen.push(Array.from(found, ({ confidence }) => +confidence.toFixed(2)));
      const next = nextCropOf(found, 0);
      if (found.length > 0) expect(next?.width).toBeGreaterThan(0);
    }
    expect(frames).toEqual([
      "boxes points",
      "points",
      "points",
      // The hand is lost in this frame, and the next one looks for it again.
      "points",
      "boxes points",
      "boxes points",
    ]);
    expect(seen).toEqual([[0.9], [0.9], [0.9], [], [], [0.9]]);
    expect(detector.points?.config.family).toBe("hand-landmarks");
  });

  test("a hand that is tracked and found is one hand", async () => {
    const log: string[] = [];
    const detector = await createDetector(
      // The box is about that of the hand's own next crop.
      { ...boxNetwork(() => [[70, 30, 110, 70, 0.9, 0]], log), points: handNetwork(log) },
      { most: 2 },
    );
    const counts: number[] = [];
    for await (const found of detector.detectAll([picture, picture])) counts.push(found.length);
    expect(counts).toEqual([1, 1]);
  });

  test("rows are the hand's own: presence, side, box around the points", async () => {
    const detector = await createDetector({ ...boxNetwork(() => [person, other]), points: handNetwork([]) });
    const found = await detector.detect(picture);
    expect(found.toArray().map((d) => [d.label, +d.confidence.toFixed(2), d.keypoints?.length])).toEqual([
      ["right", 0.9, 21],
      ["right", 0.9, 21],
    ]);
    expect(found.world).toHaveLength(2 * 63);
  });
});

describe("what is refused", () => {
  test("a second network that gets no crops", async () => {
    const log: string[] = [];
    const second = boxNetwork(() => [], log);
    const made = createDetector({ ...boxNetwork(() => [], log), points: second });
    await expect(made).rejects.toThrow(ConfigError);
    await expect(made).rejects.toThrow(
      /points: got a network of yolov10, expected one that gets the crop of an object: rtmpose/,
    );
    // Both networks are freed.
    expect(log.filter((line) => line === "boxes: session")).toHaveLength(2);
  });

  test("most without points, and a most that is none", async () => {
    await expect(
      createDetector(
        boxNetwork(() => []),
        { most: 2 },
      ),
    ).rejects.toThrow(/options\.most: got 2/);
    const chained = { ...boxNetwork(() => []), points: poseNetwork() };
    await expect(createDetector(chained, { most: 0 })).rejects.toThrow(/expected a positive whole number/);
  });

  test("a crop, and two calls at a time", async () => {
    const detector = await createDetector({ ...boxNetwork(() => [person]), points: poseNetwork() });
    await expect(detector.detect(picture, { crop: { cx: 9, cy: 9, width: 9, height: 9 } })).rejects.toThrow(
      /got a crop/,
    );
    const first = detector.detect(picture);
    await expect(detector.detect(picture)).rejects.toThrow(/another call/);
    expect(await first).toHaveLength(1);
  });
});

test("a network alone takes a crop too", async () => {
  const { options, ...network } = poseNetwork();
  const detector = await createDetector(network, options);
  const crop = { cx: 60, cy: 40, width: 12, height: 16, angle: Math.PI / 2 };
  const [found] = await detector.detect(picture, { crop });
  const [corner, middle] = found.keypoints ?? [];
  expect([corner.x * WIDTH, corner.y * HEIGHT].map(Math.round)).toEqual([68, 34]);
  expect([middle.x * WIDTH, middle.y * HEIGHT].map(Math.round)).toEqual([60, 40]);
});

test("the snippet of docs/crops.md runs", async () => {
  const page = readFileSync(new URL("../../docs/crops.md", import.meta.url), "utf8");
  const block = /## Both networks in one call[^]*?```js\n([^]*?)```/.exec(page)?.[1] ?? "";
  expect(block).toContain("detectAll");
  const body = block.replace(/^import .*$/gm, "");
  const lines: unknown[][] = [];
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
    ...texts: string[]
  ) => (...given: unknown[]) => Promise<void>;
  const palm = boxNetwork(() => [person]);
  await new AsyncFunction("createDetector", "palm", "hand", "frames", "console", body)(
    createDetector,
    palm,
    handNetwork([]),
    [picture, picture],
    { log: (...line: unknown[]) => lines.push(line) },
  );
  expect(lines).toHaveLength(2);
  expect(lines[0]).toEqual(["right", expect.any(Number), expect.any(Number)]);
});
