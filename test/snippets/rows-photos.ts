/** Blocks that begin with a photo. */
import * as ort from "onnxruntime-node";
import { expect, vi } from "vitest";
import * as boxwright from "../../src/entries/index.ts";
import { imageInfo } from "../../src/picture/image-info.ts";
import { echoOnnx } from "../support/echo-network.ts";
import { decoderOf80, fastestDet, files, frame, onePerson, picture, runtimeOf } from "./given.ts";
import { type Row, decoderIn, expectLabels } from "./row.ts";

const run = async () => Promise.resolve(onePerson());

/** A network of OpenVINO's kin: finds the brightest red pixel of its input, as a box of 8 x 8 pixels around it. */
const brightest = {
  ...runtimeOf({}),
  InferenceSession: {
    create: async () =>
      Promise.resolve({
        run: async ({ images }: { images: { data: Float32Array } }) => {
          const at = images.data.subarray(0, 640 * 640).indexOf(1);
          const data = new Float32Array(84 * 8400);
          [(at % 640) + 0.5, Math.floor(at / 640) + 0.5, 8, 8, 0.9].forEach((v, k) => (data[k * 8400] = v));
          return Promise.resolve({ output0: { data, dims: [1, 84, 8400] } });
        },
      }),
  },
};

/** React, as far as the hook needs it: one component, whose effect runs anew when its dependency changes. */
function reactOf() {
  const state: { value?: unknown; source?: unknown; cleanUp?: () => void } = {};
  const leave = (): void => {
    state.cleanUp?.();
    state.source = undefined;
  };
  return {
    state,
    leave,
    useState: (first: unknown) => [state.value ?? first, (next: unknown) => void (state.value = next)],
    useEffect: (effect: () => () => void, [source]: readonly unknown[]) => {
      if (state.source === source) return;
      leave();
      state.source = source;
      state.cleanUp = effect();
    },
  };
}
const react = reactOf();

/** The network of a file for phones, which outputs bytes. */
const phoneNetwork = {
  inputs: [{ name: "images", shape: [1, 640, 640, 3], dataType: "float32" }],
  outputs: [{ name: "output0", shape: [1, 84, 8400], dataType: "float32" }],
};

/** The resizer of a camera, which makes nothing of its frames. */
const resizerOf = () => ({
  resizer: { resize: () => ({ getPixelBuffer: () => new ArrayBuffer(0), dispose: () => undefined }) },
});

type Found = { x_min: number; x_max: number; y_min: number; y_max: number };

export const PHOTO_ROWS: readonly Row[] = [
  {
    page: "README.md",
    has: "drawPng(",
    check: (_, printed) => {
      const corners = [0.902, 0.2, 0.4, 0.6, 0.8].map((n) => expect.closeTo(n, 4) as number);
      expect(printed).toEqual([["dog", ...corners]]);
      expect(imageInfo(files["boxes.png"])).toMatchObject({ mime: "image/png", width: 32, height: 24 });
    },
  },
  {
    page: "docs/detect.md",
    has: 'detect(readFileSync("street.jpg"))',
    check: (made) => expectLabels(made["detections"], "dog"),
  },
  {
    page: "docs/detect.md",
    has: "FastestDet.onnx",
    given: () => ({
      readFileSync: () => fastestDet(),
      ort: runtimeOf({ 758: { data: new Float32Array(85 * 22 * 22), dims: [1, 85, 22, 22] } }),
      ...boxwright,
    }),
    check: async (made) => {
      const detector = made["detector"] as boxwright.Detector;
      expect(await detector.detect(picture())).toHaveLength(0);
      expect(detector.decoder.config).toMatchObject({ family: "fastestdet" });
    },
  },
  {
    page: "docs/detect.md",
    has: "signal: end.signal",
    given: async () => ({
      detector: await boxwright.createDetector({ model: echoOnnx(), runtime: boxwright.onnxRuntime(ort) }),
      frames: [picture(32, 24), picture(32, 24)].map((p) => ({ ...p, data: p.data.fill(0) })),
    }),
    check: (_, printed) => expect(printed).toEqual([[0], [0]]),
  },
  {
    page: "docs/photo.md",
    has: "export async function detect({ data, width, height })",
    modules: { "onnxruntime-node": brightest },
    check: async (made) => {
      const detect = made["detect"] as (photo: object) => Promise<Found[]>;
      for (const [width, height, x, y] of [
        [320, 200, 100, 60],
        [200, 320, 150, 300],
        [640, 640, 20, 30],
        [479, 640, 100, 200],
      ]) {
        const data = new Uint8Array(width * height * 4);
        data[(y * width + x) * 4] = 255;
        const [box, ...others] = await detect({ data, width, height });
        expect(others).toEqual([]);
        expect(Math.abs((box.x_min + box.x_max) / 2 - x - 0.5)).toBeLessThan(0.5);
        expect(Math.abs((box.y_min + box.y_max) / 2 - y - 0.5)).toBeLessThan(0.5);
      }
    },
  },
  {
    page: "docs/prepare.md",
    has: "export async function detect(image, run)",
    check: async (made) => {
      const detect = made["detect"] as (image: object, run: unknown) => Promise<Found[]>;
      const [{ x_min, x_max, y_max }] = await detect(picture(), run);
      expect([x_min, x_max, y_max].map((n) => n.toFixed(4))).toEqual(["0.4500", "0.5500", "0.6333"]);
    },
  },
  {
    page: "docs/prepare.md",
    has: 'format: "nv12", rotation: 1',
    given: () => ({ decoder: decoderOf80(), run, data: new Uint8Array((1280 * 720 * 3) / 2).fill(128) }),
    check: (made) => {
      expect(made["frame"]).toMatchObject({ width: 1280, height: 720, rotation: 1 });
      // 64 x 128 pixels of the input are 128 x 256 of the picture, which lies on its side.
      const [box] = (made["found"] as boxwright.Detections).toArray();
      expect([box.x_max - box.x_min, box.y_max - box.y_min]).toEqual([
        expect.closeTo(256 / 1280, 4),
        expect.closeTo(128 / 720, 4),
      ]);
    },
  },
  {
    page: "docs/prepare.md",
    has: "{ rotation, ...rest }",
    given: () => {
      const decoder = decoderOf80();
      const onSide = decoder.prepare({ ...picture(1280, 720), rotation: 1 }).frame;
      return { decoder, outputs: onePerson(), frame: onSide };
    },
    check: (made) => {
      const [box] = (made["found"] as boxwright.Detections).toArray();
      expect(box.x_max - box.x_min).toBeCloseTo(128 / 720, 4);
    },
  },
  {
    page: "docs/prepare.md",
    has: "{ into: input }",
    given: () => ({ decoder: decoderOf80(), image: picture() }),
    check: (made) => {
      expect(made["frame"]).toMatchObject({ width: 640, height: 480 });
      expect((made["input"] as Float32Array)[320 * 640]).toBeCloseTo(128 / 255, 6);
    },
  },
  {
    page: "docs/prepare-rule.md",
    has: "const legacy",
    given: () => ({
      createDecoder: boxwright.createDecoder,
      model: { family: "yolox", classes: 80, inputSize: [416, 416] },
    }),
    check: (made) => expect(decoderIn(made).prepareRule).toMatchObject(made["legacy"] as object),
  },
  {
    page: "docs/react-native.md",
    has: "react-native-fast-tflite",
    given: () => ({ require: (name: string) => name }),
    modules: {
      "react-native-fast-tflite": { loadTensorflowModel: async () => Promise.resolve(phoneNetwork) },
    },
    check: (made) => {
      const decode = made["decode"] as (buffers: ArrayBuffer[], frame: object) => boxwright.Detections;
      expectLabels(decode([onePerson().output0.data.buffer], frame), "person");
    },
  },
  {
    page: "docs/react-native.md",
    has: "react-native-vision-camera",
    modules: {
      "react-native-vision-camera": { useFrameOutput: (output: object) => output },
      "react-native-vision-camera-resizer": { useResizer: resizerOf },
      "react-native-worklets": {
        scheduleOnRN: (call: (...args: unknown[]) => void, ...args: unknown[]) => call(...args),
      },
    },
    check: (made) => {
      const shown: Found[][] = [];
      const decoder = decoderOf80();
      const use = made["useDetections"] as (...args: unknown[]) => { onFrame(frame: object): void };
      const decode = ([data]: Float32Array[], place: boxwright.Frame) =>
        decoder.decode({ output0: { data, dims: [1, 84, 8400] } }, place);
      const runSync = (): object[] => [onePerson().output0.data];
      const output = use({ ...phoneNetwork, runSync }, decode, (found: Found[]) => shown.push(found));
      for (const orientation of ["right", "up"]) {
        const dispose = vi.fn();
        output.onFrame({ width: 1280, height: 720, orientation, dispose });
        expect(dispose).toHaveBeenCalledOnce();
      }
      // 64 pixels of the input are 128 of the frame, whose upright width is 720 and then 1280.
      const widths = shown.map(([{ x_min, x_max }]) => x_max - x_min);
      expect(widths).toEqual([expect.closeTo(128 / 720, 4), expect.closeTo(128 / 1280, 4)]);
    },
  },
  {
    page: "docs/react-native.md",
    has: "export function boxesOf",
    modules: {
      // A compiled module has the same `decode`: test/compiled/decode.test.ts.
      "./detector.mjs": {
        decode: (...given: Parameters<boxwright.Decoder["decode"]>) => decoderOf80().decode(...given),
      },
    },
    check: (made) => {
      const boxesOf = made["boxesOf"] as (...args: unknown[]) => Found[];
      const boxes = boxesOf(phoneNetwork, [onePerson().output0.data.buffer], { width: 1280, height: 720 });
      expectLabels(boxes, "person");
      // Plain objects, which cross from one engine to the other.
      expect(boxes.map((box) => Object.getPrototypeOf(box) as unknown)).toEqual([Object.prototype]);
    },
  },
  {
    page: "docs/react-native.md",
    has: "onnxruntime-react-native",
    given: () => ({ bytes: echoOnnx(), pixels: new Uint8Array(32 * 24 * 4), width: 32, height: 24 }),
    modules: { "onnxruntime-react-native": ort },
    check: (made) => expect(made["detections"]).toHaveLength(0),
  },
  {
    page: "docs/react-native.md",
    has: "useDetector(source, options)",
    modules: { react },
    check: async (made) => {
      const use = made["useDetector"] as (source: object) => { closed?: boolean } | null;
      const source = { model: echoOnnx(), runtime: boxwright.onnxRuntime(ort) };
      expect(use(source)).toBeNull();
      await expect.poll(() => use(source)).not.toBeNull();
      react.leave();
      // A detector that is closed is not handed out.
      expect(react.state.value).toBeNull();
      // A component that goes while its detector runs leaves nothing open.
      await expect.poll(() => use(source)).not.toBeNull();
      const detector = react.state.value as boxwright.Detector;
      const running = detector.detect(picture(32, 24));
      react.leave();
      expect(await running).toBeDefined();
      await expect(detector.detect(picture(32, 24))).rejects.toThrow("closed");
    },
  },
  {
    page: "docs/react-native.md",
    has: "boxwright/dist/bare.cjs",
    check: (made) => expect(made["createDecoder"]).toBeTypeOf("function"),
  },
  {
    page: "docs/sources.md",
    has: "points: hand",
    given: () => ({
      ...boxwright,
      palmFile: echoOnnx(),
      handFile: echoOnnx(),
      runtime: boxwright.onnxRuntime(ort),
      // The networks of MediaPipe are no part of the project: what a detector is asked for is checked.
      createDetector: async ({ points, ...palm }: { points: { config: object }; config: object }) =>
        Promise.all([palm, points].map(({ config }) => boxwright.createDecoder(config))),
    }),
    check: (made) => {
      const families = (made["hands"] as boxwright.Decoder[]).map(({ config }) => config.family);
      expect(families).toEqual(["mediapipe-palm", "hand-landmarks"]);
    },
  },
  {
    page: "docs/sources.md",
    has: 'readFileSync("yolo11n.onnx")',
    given: () => ({ ...boxwright, readFileSync: () => echoOnnx(), ort }),
    check: (made) =>
      expect((made["detector"] as boxwright.Detector).decoder.config.labels).toEqual(["cat", "dog"]),
  },
];
