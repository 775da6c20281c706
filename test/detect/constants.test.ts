/** Networks that are told the size of their picture by a second input, the same for every frame. */
import { describe, expect, test } from "vitest";
import {
  type InputSpec,
  type Session,
  type SessionTensor,
  createDetector,
  onnxRuntime,
  webnn,
} from "../../src/entries/index.ts";
import { constantOf } from "../../src/detect/constants.ts";

const PICTURE: SessionTensor = { name: "images", dims: ["N", 3, 64, 128], type: "float32" };
const SIZES: SessionTensor = { name: "orig_target_sizes", dims: ["N", 2], type: "int64" };

/** What D-FINE's post-processor gives: a box of a quarter to a half of the size that it was told. */
const dfine = ([width, height]: readonly number[]) => ({
  labels: { data: BigInt64Array.of(1n, 0n), dims: [1, 2] },
  boxes: { data: Float32Array.of(width / 4, height / 4, width / 2, height / 2, 0, 0, 1, 1), dims: [1, 2, 4] },
  scores: { data: Float32Array.of(0.9, 0.1), dims: [1, 2] },
});

/** What PaddleDetection's export gives: the same box, divided by the factors. */
const paddle = ([height, width]: readonly number[], [y, x]: readonly number[]) => ({
  "concat.tmp_0": {
    data: Float32Array.of(1, 0.9, width / 4 / x, height / 4 / y, width / 2 / x, height / 2 / y),
    dims: [1, 6],
  },
});

/** Returns a session whose network computes outputs of the numbers that it is fed, and the inputs it was asked for. */
function sessionOf(
  inputs: readonly SessionTensor[],
  network: (fed: ReadonlyMap<string, number[]>) => object,
) {
  const specs: InputSpec[] = [];
  const session: Session = {
    inputs,
    overlaps: false,
    feedsConstants: true,
    createLane: (spec) => {
      specs.push(spec);
      const input = new Float32Array(3 * 64 * 128);
      const fed = new Map((spec.constants ?? []).map(({ name, data }) => [name, Array.from(data, Number)]));
      return {
        input: () => input,
        run: () => Promise.resolve(network(fed) as never),
        release: () => undefined,
        close: () => undefined,
      };
    },
    close: () => undefined,
  };
  return { session, specs };
}

const photo = { data: new Uint8Array(512 * 512 * 4), width: 512, height: 512 };
const of = (fed: ReadonlyMap<string, number[]>, name: string): number[] => fed.get(name) ?? [];

async function cornersOf(session: Session, config: object): Promise<number[]> {
  const detector = await createDetector({ session, config });
  const [d] = (await detector.detect(photo)).toArray();
  await detector.close();
  return [d.class_id, d.x_min, d.y_min, d.x_max, d.y_max].map((value) => +value.toFixed(5));
}

describe("the size of the network's input is fed, and boxes are in its pixels", () => {
  test.each(["rtdetr", "dfine", "deim", "deimv2"] as const)("%s: orig_target_sizes", async (family) => {
    for (const inputs of [
      [PICTURE, SIZES],
      [SIZES, PICTURE],
    ]) {
      const { session, specs } = sessionOf(inputs, (fed) => dfine(of(fed, "orig_target_sizes")));
      const config = { family, classes: 2, prepare: { resize: "stretch", mean: 0, std: 255 } };
      expect(await cornersOf(session, config)).toEqual([1, 0.25, 0.25, 0.5, 0.5]);
      // What the caller says of a photo's size does not hold: the detector has told the network another one.
      expect(await cornersOf(session, { ...config, coordinates: "photo" })).toEqual([
        1, 0.25, 0.25, 0.5, 0.5,
      ]);
      expect(specs[0].constants).toEqual([
        { name: "orig_target_sizes", dims: [1, 2], type: "int64", data: BigInt64Array.of(128n, 64n) },
      ]);
    }
  });

  test("a letterbox is undone", async () => {
    const { session } = sessionOf([PICTURE, SIZES], (fed) => dfine(of(fed, "orig_target_sizes")));
    const config = { family: "dfine", classes: 2, prepare: { resize: "letterbox" } };
    // The photo fills the columns 32 to 96 of 128.
    expect(await cornersOf(session, config)).toEqual([1, 0, 0.25, 0.5, 0.5]);
  });

  test("PaddleDetection: im_shape and scale_factor have the height first", async () => {
    const pair = (name: string): SessionTensor => ({ name, dims: [null, 2], type: null });
    const { session, specs } = sessionOf([pair("im_shape"), PICTURE, pair("scale_factor")], (fed) =>
      paddle(of(fed, "im_shape"), of(fed, "scale_factor")),
    );
    const config = { family: "paddle-nms", classes: 2, prepare: { resize: "stretch", mean: 0, std: 255 } };
    expect(await cornersOf(session, config)).toEqual([1, 0.25, 0.25, 0.5, 0.5]);
    expect(specs[0].constants?.map(({ name, type, data }) => [name, type, ...data])).toEqual([
      ["im_shape", "float32", 64, 128],
      ["scale_factor", "float32", 1, 1],
    ]);
  });
});

describe("adapters", () => {
  const config = { family: "dfine", classes: 2, inputSize: [128, 64], coordinates: "photo" };

  test("onnxRuntime feeds the tensors beside the picture", async () => {
    class Tensor {
      readonly type: string;
      readonly data: ArrayLike<bigint | number>;
      readonly dims: readonly number[];
      constructor(type: string, data: Tensor["data"], dims: readonly number[]) {
        this.type = type;
        this.data = data;
        this.dims = dims;
      }
    }
    const fed: unknown[] = [];
    const model = {
      inputNames: ["images", "orig_target_sizes"],
      run: (feeds: { readonly [name: string]: Tensor }) => {
        const { type, data, dims } = feeds.orig_target_sizes;
        fed.push([Object.keys(feeds), type, dims]);
        return Promise.resolve(dfine(Array.from(data, Number)));
      },
    };
    const ort = { env: {}, Tensor, InferenceSession: { create: () => Promise.resolve(model) } };
    const detector = await createDetector({ model, runtime: onnxRuntime(ort as never), config } as never);
    const [d] = (await detector.detect(photo)).toArray();
    expect([d.x_min, d.y_min, d.x_max, d.y_max]).toEqual([0.25, 0.25, 0.5, 0.5]);
    expect(fed.at(-1)).toEqual([["images", "orig_target_sizes"], "int64", [1, 2]]);
  });

  test("webnn writes the tensors once", async () => {
    const written: [object, unknown][] = [];
    const context = {
      writeTensor: (tensor: object, data: unknown) => void written.push([tensor, data]),
      dispatch: () => undefined,
      readTensor: () => Promise.resolve(),
    };
    const sizes = { dataType: "int64", shape: [1, 2] };
    const tensor = (...shape: number[]) => ({ dataType: "float32", shape });
    const model = {
      graph: {},
      inputs: { images: tensor(1, 3, 64, 128), orig_target_sizes: sizes },
      outputs: { boxes: tensor(1, 2, 4), scores: tensor(1, 2), labels: tensor(1, 2) },
    };
    const detector = await createDetector({ model, runtime: webnn(context), config }, { warmUp: 0 });
    expect(written.filter(([to]) => to === sizes)[0][1]).toEqual(BigInt64Array.of(128n, 64n));
    await detector.close();
  });
});

test.each([[null], [[1, 2]], [["N", 2]], [[-1, 2]], [[0, 2]], [[1, 0]]])(
  "an input of dims %j is open or a pair",
  (dims) => {
    const input = { name: "im_shape", dims, type: "float32" } as SessionTensor;
    expect(constantOf(input, [128, 64])).toEqual({
      name: "im_shape",
      dims: [1, 2],
      type: "float32",
      data: Float32Array.of(64, 128),
    });
  },
);

describe("refused", () => {
  const make = (inputs: readonly SessionTensor[], more: Partial<Session> = {}) =>
    createDetector(
      {
        session: { ...sessionOf(inputs, () => dfine([1, 1])).session, ...more },
        config: { family: "dfine", classes: 2 },
      },
      { warmUp: 0 },
    );

  test("a session that feeds the picture alone", async () => {
    await expect(make([PICTURE, SIZES], { feedsConstants: false })).rejects.toThrow(
      "inputs: got 2 inputs (images, orig_target_sizes), expected one, or a runtime whose session feeds constants",
    );
  });

  test("an input that nobody knows", async () => {
    await expect(make([PICTURE, { ...SIZES, name: "size" }])).rejects.toThrow(
      "inputs: got 2 inputs (images, size), expected one, which takes the picture",
    );
  });

  test.each([
    ["of several pictures", { dims: [4, 2] }, "got orig_target_sizes [4,2], expected [1,2]"],
    ["of four numbers", { dims: [1, 4] }, "got orig_target_sizes [1,4], expected [1,2]"],
    [
      "of bytes",
      { type: "uint8" },
      'got orig_target_sizes of type "uint8", expected int64, int32 or float32',
    ],
  ])("an input %s", async (_, given, message) => {
    await expect(make([PICTURE, { ...SIZES, ...given }])).rejects.toThrow(message);
  });
});
