/** Width and height exchanged, with as many bytes: in the input size, in the frame, in the picture. Each is told. */
import { describe, expect, test } from "vitest";
import { createDecoderSync, readModel } from "../../src/entries/index.ts";
import { compilePlan, readImage } from "../../src/entries/node.ts";
import { loadPlanSync } from "../../src/entries/plan.ts";
import { readFixture } from "../support/files.ts";
import { echoOnnx } from "../support/echo-network.ts";

type Size = readonly [width: number, height: number];

const STRIDES = [8, 16, 32];

/** Planes of YOLOv8 in pixels of an input: each cell's box stands in its cell. `likely`: cells with an object. */
function planes([width, height]: Size, likely: (x: number, y: number) => boolean) {
  const rows = STRIDES.flatMap((stride) =>
    Array.from({ length: (width / stride) * (height / stride) }, (_, i) => {
      const across = width / stride;
      const [x, y] = [(i % across) + 0.5, Math.floor(i / across) + 0.5].map((n) => n * stride);
      const side = stride * (2 + (i % 3));
      return [x, y, side, side, likely(x, y) ? 0.9 : 0.01];
    }),
  );
  const data = Float32Array.from(
    { length: 5 * rows.length },
    (_, i) => rows[i % rows.length][Math.floor(i / rows.length)],
  );
  return { data, dims: [1, 5, rows.length] };
}

/** Returns the same cells as rows, each made by `row` of a cell's channels. */
function rowsOf(
  { data, dims: [, channels, cells] }: ReturnType<typeof planes>,
  row: (values: number[]) => number[],
) {
  const rows = Array.from({ length: cells }, (_, i) =>
    row(Array.from({ length: channels }, (__, k) => data[k * cells + i])),
  );
  return { data: Float32Array.from(rows.flat()), dims: [1, cells, rows[0].length] };
}

const inMiddle = (x: number, y: number): boolean => x === 212 && y === 212;

describe.each([
  [480, 640],
  [640, 384],
] as const)("inputSize of a network of %ix%i", (...size) => {
  const output = planes(size, inMiddle);
  const NETWORKS = {
    yolov8: { output },
    "yolo-nas": {
      boxes: rowsOf(output, ([x, y, w, h]) => [x - w / 2, y - h / 2, x + w / 2, y + h / 2]),
      scores: rowsOf(output, ([, , , , score]) => [score]),
    },
    yolov6: { output: rowsOf(output, ([x, y, w, h, score]) => [x, y, w, h, 1, score]) },
  } as const;
  const notesOf = (family: string, inputSize: Size): string[] => {
    const notes: string[] = [];
    const outputs = NETWORKS[family as keyof typeof NETWORKS];
    createDecoderSync({ family, classes: 1, inputSize } as never, {
      onNote: (note) => notes.push(note),
    }).decode(outputs as never);
    return notes;
  };
  test.each(Object.keys(NETWORKS))("%s", (family) => {
    expect(notesOf(family, size)).toEqual([]);
    const [width, height] = size;
    expect(notesOf(family, [height, width]).join("\n")).toMatch(
      new RegExp(`lie around their cells if they are (cxcywh|xyxy) of a ${width}x${height} input`),
    );
  });
});

test("inputSize of rows that are not decoded", () => {
  const outputs = Object.fromEntries(
    STRIDES.flatMap((stride) => {
      const [w, h] = [480 / stride, 640 / stride];
      const rows = (name: string, k: number, of: (x: number, y: number, c: number) => number) => {
        const data = Float32Array.from({ length: w * h * k }, (_, i) => {
          const cell = Math.floor(i / k);
          return of((cell % w) * stride, Math.floor(cell / w) * stride, i % k);
        });
        return [name, { data, dims: [1, w * h, k] }];
      };
      return [
        rows(`cls_${stride}`, 2, (x, y) => (x === 64 && y === 320 ? 0.9 : 0.01)),
        rows(`dis_${stride}`, 32, (x, y, c) => Math.sin(x / 60 + c) + Math.cos(y / 50 + c)),
      ];
    }),
  );
  const notesOf = (inputSize: Size): string => {
    const notes: string[] = [];
    createDecoderSync(
      { family: "nanodet", classes: 2, inputSize },
      { onNote: (note) => notes.push(note) },
    ).decode(outputs as never);
    return notes.join("\n");
  };
  expect(notesOf([480, 640])).toBe("");
  expect(notesOf([640, 480])).toContain(
    "lie as those of a 480x640 input do, and not of 640x480: inputSize is [width, height]",
  );
});

test("boxes of cells in another format than is stated", () => {
  const size = [320, 256] as const;
  const centres = planes(size, inMiddle);
  const corners = rowsOf(centres, ([x, y, w, h, score]) => [
    x - w / 2,
    y - h / 2,
    x + w / 2,
    y + h / 2,
    score,
  ]);
  const notesOf = (output: object, boxFormat: string): string => {
    const notes: string[] = [];
    createDecoderSync({ family: "yolov9", classes: 1, inputSize: size, boxFormat } as never, {
      onNote: (note) => notes.push(note),
    }).decode({ output } as never);
    return notes.join("\n");
  };
  expect([notesOf(centres, "cxcywh"), notesOf(corners, "xyxy")]).toEqual(["", ""]);
  for (const boxFormat of ["xywh", "xyxy"])
    expect(notesOf(centres, boxFormat)).toContain(
      "lie around their cells if they are cxcywh, and not as they are read",
    );
  expect(notesOf(corners, "cxcywh")).toContain("if they are xyxy, and not as they are read");
  expect(notesOf(corners, "yxyx")).toContain("if they are xyxy with y before x, and not as they are read");
});

describe("inputSize beside a file that states the size", () => {
  const message = "inputSize: got [480,640], expected [width, height]: the file states 640x480";
  const nn_config = {
    output_format: "detection",
    NN_family: "YOLO",
    input_size: "640x480",
    NN_specific_metadata: { classes: 1, coordinates: 4, anchors: [], anchor_masks: {} },
  };
  test("NN_config", () => {
    expect(() => createDecoderSync({ nn_config }, { family: "yolov8", inputSize: [480, 640] })).toThrow(
      message,
    );
    for (const inputSize of [
      [640, 480],
      [640, 640],
    ] as const)
      expect(createDecoderSync({ nn_config }, { family: "yolov8", inputSize }).config.inputSize).toEqual(
        inputSize,
      );
  });
  test("a plan file of it", () => {
    const outputs = [{ name: "o", dims: [1, 5, 6300] }];
    expect(() => compilePlan({ nn_config }, { family: "yolov8", inputSize: [480, 640], outputs })).toThrow(
      message,
    );
    const file = compilePlan({ nn_config }, { family: "yolov8", outputs });
    expect(loadPlanSync(file).inputSize).toEqual([640, 480]);
  });
  test("a model file", async () => {
    const model = await readModel(echoOnnx());
    const [width, height] = model.inputSize as Size;
    expect(() => createDecoderSync(model, { inputSize: [height, width] })).toThrow(
      `[width, height]: the file states ${width}x${height}`,
    );
  });
});

test("finished boxes that reach over an edge, and would not with width and height exchanged", () => {
  const rows = [10, 20, 100, 90, 0.9, 0, 300, 30, 620, 200, 0.8, 1, 500, 300, 600, 470, 0.7, 1];
  const data = Float32Array.from([...rows, ...Array<number>(6 * 297).fill(0)]);
  const notesOf = (inputSize: Size): string[] => {
    const notes: string[] = [];
    createDecoderSync(
      { family: "yolo26", classes: 2, inputSize },
      { onNote: (note) => notes.push(note) },
    ).decode({
      output0: { data, dims: [1, 300, 6] },
    });
    return notes;
  };
  expect(notesOf([640, 480])).toEqual([]);
  expect(notesOf([480, 640]).join()).toContain("none would of 640x480: inputSize is [width, height]");
});

describe("the frame of a letterbox", () => {
  const NETWORK = { family: "yolov8", classes: 1, inputSize: [640, 640] } as const;
  // Objects over a whole photo of 640x480, which lies between 80 and 560.
  const output = planes([640, 640], (x, y) => x % 128 === 12 && y > 80 && y < 560 && y % 96 === 12);
  const options = { outputs: [{ name: "output0", dims: output.dims }] };
  const file = compilePlan(NETWORK, options);
  const DECODERS = {
    createDecoder: (onNote: (note: string) => void) => createDecoderSync(NETWORK, { onNote }),
    loadPlan: (onNote: (note: string) => void) => loadPlanSync(file, { onNote }),
  };
  test.each(Object.keys(DECODERS) as (keyof typeof DECODERS)[])("%s", (name) => {
    const notesOf = (width: number, height: number): string[] => {
      const notes: string[] = [];
      DECODERS[name]((note) => notes.push(note)).decode(
        { output0: output },
        { width, height, resize: "letterbox" },
      );
      return notes.filter((note) => note.includes("padding"));
    };
    expect(notesOf(640, 480)).toEqual([]);
    expect(notesOf(480, 640)).toEqual([
      expect.stringMatching(
        /a frame of 480x640 are centred in the padding .* Or are width and height exchanged \(640x480\)\?$/,
      ),
    ]);
    // One that stands in the padding of both orders says that something else is wrong.
    expect(notesOf(640, 200)).toEqual([expect.stringMatching(/was the picture stretched (?!.*exchanged)/)]);
  });
});

test.each(["chelsea.png", "dogs.jpg", "hopper.jpg", "coffee.jpg"])("a picture: %s", async (name) => {
  const { data, width, height } = await readImage(readFixture(`photos/${name}`));
  const gray = data.filter((_, i) => i % 4 === 1);
  const rgb = data.filter((_, i) => i % 4 !== 3);
  for (const image of [{ data }, { data: gray, format: "gray" }, { data: rgb, format: "rgb" }] as const) {
    const notesOf = (size: object): string[] => {
      const notes: string[] = [];
      const decoder = createDecoderSync(
        { family: "yolov8", classes: 1, inputSize: [64, 64] },
        { onNote: (note) => notes.push(note) },
      );
      decoder.prepare({ ...image, ...size } as never);
      return notes;
    };
    expect(notesOf({ width, height })).toEqual([]);
    expect(notesOf({ width: height, height: width })).toEqual([
      `neighbouring rows of the picture differ less if it is ${width}x${height} than if it is ${height}x${width}: are ` +
        "width and height exchanged?",
    ]);
  }
});
