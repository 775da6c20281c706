/** Class maps over the image: by definition, pixel by pixel, and by the fields of an NN Archive. */
import { describe, expect, test } from "vitest";
import { classMap, mapOptions, prepareImage, valueMap } from "../../../src/entries/index.ts";
import { placeOf } from "../../../src/core/place.ts";
import type { Frame } from "../../../src/decode/frame.ts";

/** Cells of a map of 16 x 8 with a class of its own for each cell, and the input that it shows. */
const CELLS = [16, 8] as const;
const INPUT = [64, 32] as const;
const IDS = Int32Array.from({ length: 128 }, (_, i) => i);
const ids = { data: IDS, dims: [1, 8, 16] };

/** Returns the id at a pixel by definition: turn its centre upright, place it in the input, take the cell. */
function idAt({ width, height, resize, rotation = 0 }: Frame, px: number, py: number): number {
  const [u, v] = [(px + 0.5) / width, (py + 0.5) / height];
  const [x, y] = [
    [u, v],
    [1 - v, u],
    [1 - u, 1 - v],
    [v, 1 - u],
  ][rotation];
  const upright = rotation % 2 === 1 ? ([height, width] as const) : ([width, height] as const);
  const place = placeOf(upright, INPUT, resize);
  const column = Math.floor(((place.left + x * place.width) / INPUT[0]) * CELLS[0]);
  const row = Math.floor(((place.top + y * place.height) / INPUT[1]) * CELLS[1]);
  return row < 0 || column < 0 || row >= CELLS[1] || column >= CELLS[0] ? 255 : row * CELLS[0] + column;
}

describe.each(["letterbox", "letterbox-topleft", "stretch", "crop"] as const)("%s", (resize) => {
  test.each([0, 1, 2, 3] as const)(
    "each pixel has the class of the cell under its centre, rotation %i",
    (rotation) => {
      for (const [width, height] of [
        [40, 30],
        [30, 40],
        [100, 10],
        [7, 9],
      ]) {
        const frame = { width, height, resize, rotation };
        const map = classMap(ids, { classes: 128, inputSize: INPUT, frame });
        expect([map.width, map.height]).toEqual([width, height]);
        const expected = Array.from({ length: width * height }, (_, i) =>
          idAt(frame, i % width, Math.floor(i / width)),
        );
        expect([...map.data]).toEqual(expected);
      }
    },
  );
});

test("a map of numbers is turned back to the image of the frame too", () => {
  const size = { width: 32, height: 64, rotation: 1 } as const;
  const values = Float32Array.from({ length: 128 }, (_, i) => i);
  // One pixel for each cell, so no pixel mixes cells.
  const frame = { ...size, width: 8, height: 16, resize: "stretch" } as const;
  const map = valueMap({ data: values, dims: [8, 16] }, { inputSize: INPUT, frame });
  expect([map.width, map.height]).toEqual([8, 16]);
  // A quarter turn clockwise brought the left column of the image to the top row of the map.
  for (let y = 0; y < 16; y++)
    for (let x = 0; x < 8; x++) expect(map.data[y * 8 + x]).toBe(x * 16 + (15 - y));
  const crop = { cx: 4, cy: 8, width: 4, height: 4, angle: 0.5 };
  for (const call of [valueMap, classMap])
    expect(() =>
      call({ data: values, dims: [8, 16] }, {
        inputSize: INPUT,
        frame: { ...frame, rotation: 0, crop },
        ...(call === classMap && { ids: true }),
      } as never),
    ).toThrow("maps are not turned");
});

test("one channel: ids, a threshold, the background, and what is none of these", () => {
  const bytes = { data: Uint8Array.of(0, 1, 255, 2), dims: [1, 1, 2, 2] };
  expect(classMap(bytes, { labels: ["road", "sky", "car"] })).toEqual({
    width: 2,
    height: 2,
    classes: 3,
    labels: ["road", "sky", "car"],
    data: Uint8Array.of(0, 1, 255, 2),
  });
  expect([...classMap(bytes, { background: true }).data]).toEqual([255, 1, 255, 2]);
  const int64 = { data: BigInt64Array.of(0n, 299n, 255n, 2n), dims: [1, 2, 2, 1] };
  expect(classMap(int64).data).toEqual(Uint16Array.of(0, 299, 255, 2));
  const floats = { data: [0, 1, 2, 3], dims: [2, 2] };
  expect(() => classMap(floats)).toThrow();
  expect([...classMap(floats, { ids: true }).data]).toEqual([0, 1, 2, 3]);
  expect([...classMap(floats, { threshold: 1.5 }).data]).toEqual([255, 255, 0, 0]);
  expect(() => classMap(floats, { ids: true, classes: 3 })).toThrow("3 among class ids");
  expect(() => classMap({ data: [0.5, 1, 1, 1], dims: [2, 2] }, { ids: true })).toThrow(
    "0.5 among class ids",
  );
  expect(() => classMap({ data: new Int32Array(8), dims: [2, 2, 2] }, { ids: true })).toThrow(
    "one channel of ids",
  );
  expect(() => classMap(bytes, { labels: [1] as never })).toThrow("labels: got");
  expect(() => classMap(bytes, { labels: ["a", "b", "c", "d"], classes: 3 })).toThrow(
    "4 names for 3 classes",
  );
});

test("the background of an argmax is of no class", () => {
  const scores = { data: [1, 5, 2, 2, 4, 0, 3, 9], dims: [1, 2, 2, 2], order: "NCHW" as const };
  expect([...classMap(scores, { background: true }).data]).toEqual([1, 255, 1, 1]);
});

/** An archive with one head. */
const archive = (parser: string, metadata: object, shape: readonly number[]): object => ({
  config_version: "1.0",
  model: {
    inputs: [
      {
        name: "in",
        dtype: "float32",
        input_type: "image",
        shape: [1, 3, 32, 64],
        layout: "NCHW",
        preprocessing: { mean: [0, 0, 0], scale: [255, 255, 255], reverse_channels: false },
      },
    ],
    outputs: [{ name: "out", dtype: "float32", shape }],
    heads: [{ parser, outputs: ["out"], metadata }],
  },
});

/** The rule of depthai-nodes' `compute_segmentation_class_map` on [C, h, w], pixel by pixel. */
function depthai(scores: readonly (readonly number[])[], inOneLayer: boolean, background: boolean): number[] {
  return scores[0].map((_, i) => {
    const column = scores.map((channel) => channel[i]);
    if (scores.length === 1) return inOneLayer ? column[0] : column[0] > 0 ? 0 : 255;
    const best = column.indexOf(Math.max(...column));
    return background && best === 0 ? 255 : best;
  });
}

describe("SegmentationParser", () => {
  test.each([
    [{ classes: ["a", "b", "c"], n_classes: 3 }, 3],
    [{ n_classes: 3, background_class: true }, 3],
    [{ classes: ["road"] }, 1],
    [{ classes: ["road"], background_class: true }, 1],
    [{ n_classes: 3, classes_in_one_layer: true, background_class: true }, 1],
  ] as const)("%j", (metadata, channels) => {
    const scores = Array.from({ length: channels }, (_, c) =>
      Array.from({ length: 8 }, (_, i) =>
        "classes_in_one_layer" in metadata ? i % 3 : Math.sin(7 * c + 3 * i + 1),
      ),
    );
    const { output, reader, options, prepare } = mapOptions(
      archive("SegmentationParser", metadata, [1, channels, 2, 4]),
    );
    expect([output, reader]).toEqual(["out", "classMap"]);
    expect(prepare).toMatchObject({ size: [64, 32], resize: "stretch", order: "BGR", std: [255, 255, 255] });
    const image = { data: new Uint8Array(4 * 4 * 2), width: 4, height: 2 };
    const { frame } = prepareImage(image, prepare);
    const map = classMap({ data: scores.flat(), dims: [1, channels, 2, 4] }, { ...options, frame });
    expect([...map.data]).toEqual(
      depthai(scores, "classes_in_one_layer" in metadata, "background_class" in metadata),
    );
    expect(map.labels).toEqual("classes" in metadata ? metadata.classes : null);
  });

  test("a map of numbers, and archives without a map", () => {
    const { reader, options } = mapOptions(archive("MapOutputParser", { min_max_scaling: true }, [1, 2, 4]));
    expect([reader, options]).toEqual(["valueMap", { inputSize: [64, 32] }]);
    expect(() => mapOptions(archive("YOLO", {}, [1, 2, 4]))).toThrow(
      'model.heads: got "YOLO", expected a parser SegmentationParser or MapOutputParser',
    );
    expect(() => mapOptions(null)).toThrow("no heads");
    expect(() => mapOptions(archive("SegmentationParser", { n_classes: -1 }, [1, 2, 4]))).toThrow(
      "n_classes",
    );
    const text = JSON.stringify(archive("SegmentationParser", {}, [1, 2, 4]));
    expect(() => mapOptions(JSON.parse(text.replace("[1,3,32,64]", "[1,3,-1,-1]")))).toThrow(
      "model.inputs: got no shape of a picture, expected one of whole numbers, such as [1, 3, 512, 1024]",
    );
  });
});
