/** A detector keeps its input tensor. It holds what a new tensor would hold, whichever picture came before. */
import { expect, test } from "vitest";
import {
  type Crop,
  type ImageInput,
  type PrepareRule,
  createDetector,
  onnxRuntime,
  prepareImage,
} from "../../src/entries/index.ts";

const SIDE = 64;

/** A tensor of ONNX Runtime. */
class Tensor {
  readonly data: Float32Array;

  constructor(_type: string, data: Float32Array) {
    this.data = data;
  }
}

/** Returns a detector over a network that finds nothing, and the network's last input. `moves`: it takes that away. */
async function openDetector(prepare: object, dims: readonly number[], type: string, moves = false) {
  let given = new Float32Array(0);
  const network = {
    inputNames: ["images"],
    inputMetadata: [{ name: "images", isTensor: true, type, shape: dims }],
    outputNames: ["output0"],
    run: async ({ images }: { readonly images: Tensor }) => {
      given = images.data.slice();
      if (moves) structuredClone(images.data, { transfer: [images.data.buffer as ArrayBuffer] });
      return { output0: { data: new Float32Array(6 * 84), dims: [1, 6, 84], type: "float32" } };
    },
  };
  const runtime = onnxRuntime({
    env: {},
    Tensor,
    InferenceSession: { create: async () => network },
  } as never);
  const config = { family: "yolov8", classes: 2, inputSize: [SIDE, SIDE], prepare } as const;
  const detector = await createDetector({ model: network as never, runtime, config });
  return { detector, given: () => given };
}

/** Returns an image of seeded bytes. */
function imageOf(width: number, height: number, seed: number, rotation?: 1): ImageInput {
  const data = Uint8Array.from({ length: width * height * 4 }, (_, i) => (i * 167 + seed * 31) & 255);
  return { data, width, height, ...(rotation && { rotation }) };
}

const crop: Crop = { cx: 40, cy: 20, width: 30, height: 30 };

/** Pictures whose padding lies elsewhere than that of the one before, and pictures whose padding is the same. */
const PICTURES: readonly (readonly [image: ImageInput, crop?: Crop])[] = [
  [imageOf(80, 40, 1)],
  [imageOf(80, 40, 2)],
  [imageOf(30, 90, 3)],
  [imageOf(80, 40, 4)],
  [imageOf(80, 40, 5), crop],
  [imageOf(80, 40, 6)],
  [imageOf(80, 40, 7, 1)],
  [imageOf(80, 40, 8)],
  [imageOf(64, 64, 9)],
  [imageOf(80, 40, 10)],
];

test.each([
  ["NCHW", "float32", [1, 3, SIDE, SIDE]],
  ["NHWC", "float32", [1, SIDE, SIDE, 3]],
  ["NCHW", "uint8", [1, 3, SIDE, SIDE]],
  ["NHWC", "uint8", [1, SIDE, SIDE, 3]],
])("%s, %s: each picture has its own padding", async (layout, type, dims) => {
  const { detector, given } = await openDetector({ layout, pad: [1, 2, 3] }, dims, type);
  const rule = detector.decoder.prepareRule as PrepareRule;
  for (const [image, part] of PICTURES) {
    const options = part === undefined ? {} : { crop: part };
    await detector.detect(image, options);
    const { tensor } = prepareImage(image, rule, options);
    expect(Buffer.from(given().buffer).equals(Buffer.from(tensor.data.buffer))).toBe(true);
  }
  await detector.close();
});

test("a runtime that moves its input to a worker gets a new one for each picture", async () => {
  const { detector, given } = await openDetector({}, [1, 3, SIDE, SIDE], "float32", true);
  const rule = detector.decoder.prepareRule as PrepareRule;
  for (const seed of [1, 2]) {
    const image = imageOf(80, 40, seed);
    await detector.detect(image);
    expect(given()).toEqual(prepareImage(image, rule).tensor.data);
  }
  await detector.close();
});
