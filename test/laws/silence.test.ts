/** Mistakes of a caller that would give a wrong answer in silence: each gets an error or a note. */
import { describe, expect, test } from "vitest";
import {
  type Decoder,
  createDecoderSync,
  createTileMerger,
  fuse,
  nms,
  suppress,
  tiles,
  toCoco,
  toPacket,
} from "../../src/entries/index.ts";

const f32 = (dims: readonly number[], ...values: number[]) => ({ data: Float32Array.from(values), dims });
const i32 = (dims: readonly number[], ...values: number[]) => ({ data: Int32Array.from(values), dims });

/** Returns a decoder and the notes that it gives. */
function noting(config: object, options: object = {}): { decoder: Decoder; notes: string[] } {
  const notes: string[] = [];
  const decoder = createDecoderSync(config as never, { ...options, onNote: (note) => notes.push(note) });
  return { decoder, notes };
}

const INPUT = { classes: 80, inputSize: [640, 640] } as const;

/** Finished lists with one box of x 20..x_max, y 30..400, in pixels. */
const LISTS: Record<string, { config: object; of: (xMax: number) => object }> = {
  "paddle-nms": { config: { family: "paddle-nms" }, of: (x) => ({ o: f32([1, 6], 3, 0.9, 20, 30, x, 400) }) },
  rtdetr: {
    config: { family: "rtdetr" },
    of: (x) => ({
      labels: i32([1, 1], 3),
      boxes: f32([1, 1, 4], 20, 30, x, 400),
      scores: f32([1, 1], 0.9),
    }),
  },
  yolov10: {
    config: { family: "yolov10", coordinates: "photo" },
    of: (x) => ({ o: f32([1, 1, 6], 20, 30, x, 400, 0.9, 3) }),
  },
};

describe.each(Object.keys(LISTS))("boxes in pixels of the photo: %s", (name) => {
  const { config, of } = LISTS[name];
  test("beyond the input and without a frame are refused", () => {
    const { decoder } = noting({ ...INPUT, ...config });
    expect(() => decoder.decode(of(1200) as never)).toThrow(
      /frame: got none, and boxes that reach beyond the 640x640 of the input, expected the frame/,
    );
  });
  test("within the input and without a frame get a note, and with a frame none", () => {
    const { decoder, notes } = noting({ ...INPUT, ...config });
    decoder.decode(of(600) as never);
    expect(notes.join("\n")).toContain("boxes are taken for pixels of the 640x640 input: pass the frame");
    const other = noting({ ...INPUT, ...config });
    const [found] = other.decoder.decode(of(1200) as never, { width: 1280, height: 720, resize: "stretch" });
    expect(found.x_max).toBe(0.9375);
    expect(other.notes).toEqual([]);
  });
  test("outside of the photo that the frame states get a note", () => {
    const { decoder, notes } = noting({ ...INPUT, ...config });
    decoder.decode(of(1200) as never, { width: 320, height: 200, resize: "stretch" });
    expect(notes.join("\n")).toContain("every box is centred outside of the photo of 320x200");
  });
});

test.each([
  ["yolov7", { output: f32([1, 7], 0, -20, -30, 700, 650, 3, 0.9) }],
  ["yolo-nas", { output: f32([1, 7], 0, -20, -30, 700, 650, 0.9, 3) }],
  ["paddle-nms", { o: f32([1, 6], 3, 0.9, -20, -30, 700, 650) }],
  ["yolov10", { o: f32([1, 1, 6], -20, -30, 700, 650, 0.9, 3) }],
])("finished lists of every network are clamped by the set: %s", (family, outputs) => {
  const frame = { width: 640, height: 640, resize: "stretch" } as const;
  const boxes = (rules: object): unknown[] =>
    noting({ family, ...INPUT, ...rules })
      .decoder.decode(outputs as never, frame)
      .toArray()
      .map((d) => [d.x_min, d.y_min, d.x_max, d.y_max]);
  expect(boxes({})).toEqual([[0, 0, 1, 1]]);
  expect(boxes({ rules: { clamp: "none" } })).toEqual([[-0.03125, -0.046875, 1.09375, 1.015625]]);
});

describe("options beside a file's own keys", () => {
  const V5 = {
    output_format: "detection",
    NN_family: "YOLO",
    NN_specific_metadata: { classes: 1, coordinates: 4, anchors: [1, 2], anchor_masks: { side2: [0] } },
  };
  const archive = { config_version: "1.0", model: { metadata: { name: "m" }, heads: null, outputs: [] } };
  test.each([
    [{ NN_config: V5, confidenceThreshold: 0.1 }, "confidenceThreshold: got it beside NN_config"],
    [{ nn_config: V5, rules: "gen1" }, "rules: got it beside nn_config"],
    [{ NN_config: V5, family: "yolov5" }, "family: got it beside NN_config"],
    [{ NN_config: V5, engine: "ts" }, "engine: got it beside NN_config"],
    [{ ...archive, keep: [0] }, "keep: got it beside model"],
  ])("%j", (config, message) => {
    expect(() => createDecoderSync(config as never)).toThrow(
      `${message}, expected it in the second argument of createDecoder`,
    );
  });
});

test.each([
  [{ background: 0 }, /^background is not used: yolov8 is read as "class-rows"/],
  [{ priors: new Float32Array(336) }, /^priors is not used/],
  [{ priorFormat: "xyxy" }, /^priorFormat is not used/],
  [{ scales: [10, 10, 5, 5] }, /^scales is not used/],
  [{ variances: [0.1, 0.1, 0.2, 0.2] }, /^variances is not used/],
  [{ scaleXY: 1.2 }, /^scaleXY is not used/],
  [{ background: 0, scaleXY: 1.2 }, /^background, scaleXY are not used/],
])("an option that the family never reads gets a note: %j", (options, note) => {
  const { decoder, notes } = noting({ family: "yolov8", classes: 2, inputSize: [64, 64], ...options });
  decoder.decode({
    o: f32(
      [1, 6, 84],
      ...Array<number>(6 * 84)
        .fill(0.01)
        .fill(9, 0, 336),
    ),
  });
  expect(notes.filter((n) => note.test(n))).toHaveLength(1);
});

test("a task's option for a network without the task is refused", () => {
  const { decoder } = noting({ family: "yolov8", classes: 2, inputSize: [64, 64], maskThreshold: 0.5 });
  expect(() => decoder.decode({ o: f32([1, 6, 84], ...Array<number>(504).fill(0)) })).toThrow(/^text: /);
});

test("COCO's results need the id of their image", () => {
  const cat = { class_id: 0, label: "cat", confidence: 0.5, x_min: 0, y_min: 0, x_max: 1, y_max: 1 };
  for (const imageId of [undefined, NaN, "7", 1.5])
    expect(() => toCoco([cat], { width: 8, height: 8, imageId } as never)).toThrow(
      /^image\.imageId: got .*, expected the image's id, a whole number$/,
    );
});

test("detections of another frame than the tile are refused", () => {
  const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
  const data = new Float32Array(5 * 84);
  [32, 32, 20, 20, 0.9].forEach((value, channel) => (data[channel * 84] = value));
  const outputs = { o: { data, dims: [1, 5, 84] } };
  const merger = createTileMerger([1280, 720]);
  const [tile] = tiles([1280, 720], { tile: 640 });
  const whole = { width: 1280, height: 720, resize: "letterbox" } as const;
  for (const found of [decoder.decode(outputs, whole).copy(), decoder.decode(outputs, whole)])
    expect(() => merger.add(tile, found)).toThrow(
      "detections: got those of a frame of 1280x720 for a tile of 640x640, expected the tile as the frame: decode(outputs, { width: 640, height: 640, resize })",
    );
  expect(merger.length).toBe(0);
  merger.add(tile, decoder.decode(outputs, { ...whole, width: 640, height: 640 }));
  merger.add(tile, decoder.decode(outputs));
  expect(merger.length).toBe(2);
});

describe("boxes of corner and size, taken for corners", () => {
  // Corner and size of three objects. Two of them are narrower than they are far from the left.
  const boxes = [100, 100, 20, 20, 300, 80, 40, 200, 5, 5, 50, 50];
  const scores = [0.9, 0.8, 0.7];
  const refused = /boxes: got 2 of 3 boxes with x2 < x1 or y2 < y1, expected corners, .*boxFormat: "xywh"/;
  test.each([
    ["nms", () => nms(boxes, scores)],
    ["nms with a threshold", () => nms(boxes, scores, { scoreThreshold: 0.1 })],
    ["suppress", () => suppress(boxes, scores, { method: "soft-gaussian" })],
    ["fuse", () => fuse([{ boxes, scores }])],
  ])("%s", (_, call) => {
    expect(call).toThrow(refused);
  });
  test("one that is turned round is taken, as in ONNX", () => {
    expect([...nms([10, 10, 0, 0, 0, 0, 10, 10, 50, 50, 60, 60], scores)]).toEqual([0, 2]);
    expect([...nms(boxes, scores, { boxFormat: "xywh" })]).toEqual([0, 1, 2]);
  });
  test("infinite corners say nothing about the format", () => {
    expect(() => nms([Infinity, 0, 10, 10], [0.9])).not.toThrow();
    expect(() => nms([Infinity, 0, 10, 10, 0, Infinity, 10, 10, 0, 0, 5, 5], scores)).not.toThrow();
  });
});

describe("messages that name the mistake", () => {
  test.each([undefined, 2])("a negative class id, of %s classes", (classes) => {
    const { decoder, notes } = noting({ family: "efficient-nms", inputSize: [640, 640], classes });
    decoder.decode({
      num_dets: i32([1, 1], 1),
      det_boxes: f32([1, 1, 4], 1, 2, 30, 40),
      det_scores: f32([1, 1], 0.9),
      det_classes: i32([1, 1], -3),
    });
    expect(notes).toEqual([
      "class -3 was found, and class ids count from 0: is this the column of class ids?",
    ]);
  });

  test("attributes of packets, in words", () => {
    const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
    const packet = (about: object) => () =>
      toPacket(decoder, { o: f32([1, 5, 84], ...Array<number>(420).fill(0)) }, null, {
        id: "1",
        source: "/a",
        ...about,
      });
    expect(packet({ time: 5 })).toThrow('about.time: got 5, expected a Date, or text in RFC 3339: "2026-');
    expect(packet({ sequence: 1.5 })).toThrow("about.sequence: got 1.5, expected a whole number from 0 up");
    expect(packet({ traceparent: "x" })).toThrow("expected 55 characters, as in W3C Trace Context");
  });

  test("a size that is an object", () => {
    expect(() => tiles({ width: 8, height: 8 } as never, { tile: 4 })).toThrow(
      "size: got an object, expected [width, height] of the picture in whole pixels",
    );
  });

  test("a finished list of two classes with a class beyond them", () => {
    const { decoder } = noting({ family: "yolov7", classes: 2, inputSize: [640, 640] });
    const list = f32([1, 7], 0, 20, 30, 600, 650, 5, 0.9);
    expect(() => decoder.decode({ output: list })).toThrow(/class 5 of 2 in row 0/);
  });
});

test.each([
  [{ confidenceThreshold: 50 }, "50 percent is 0.5"],
  [{ iouThreshold: "0.5" }, "a number has no quotes: 0.5"],
  [{ scores: "Logits" }, 'in small letters, "logits"'],
])("a slip of the pen is told: %j", (options, hint) => {
  expect(() => createDecoderSync({ family: "yolov8", classes: 1 }, options as never)).toThrow(hint);
});
