/**
 * Measures other packages of npm that decode detections in JavaScript, beside boxwright, on the same tensors in Node:
 * `npm run bench:packages`. They are fetched into a temporary folder. docs/comparison.md has the table.
 *
 * - YOLOv8 [1,84,8400] at 0.25 and IoU 0.45: libreyolo-web, yolo-helpers (its tensor as nested arrays, which it asks of
 *   TensorFlow.js, and suppression by TensorFlow.js on WebAssembly)
 * - RF-DETR, 300 queries and 91 columns: libreyolo-web
 * - DETR, 100 queries and 92 columns: @huggingface/transformers
 */
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type * as Boxwright from "../src/entries/index.ts";
import { fetchProgram } from "../test/runtimes/install.mjs";
import { timeOf } from "./measure.ts";
import { runScript } from "./options.ts";
import { mulberry32 } from "./random.ts";
import { machineLine, madeBy } from "./report.ts";
import { layOut, us } from "./table.ts";
import { WORKLOADS, makeWorkload } from "./workloads.ts";

interface Row {
  readonly name: string;
  readonly found: () => number | Promise<number>;
}

type Fetch = (
  name: string,
  wanted: { readonly packages: readonly string[]; readonly bin: string },
) => Promise<string>;
const fetchPackage = fetchProgram as Fetch;

const MILLISECONDS = 1500;
const PHOTO = { width: 1280, height: 720 } as const;

/** Makes queries: centre and size, and logits of which ten pass. */
function makeQueries(queries: number, columns: number): { boxes: Float32Array; logits: Float32Array } {
  const random = mulberry32(73);
  const boxes = Float32Array.from(
    { length: queries * 4 },
    (_, i) => 0.2 + (i % 4 < 2 ? 0.6 : 0.2) * random(),
  );
  const logits = Float32Array.from({ length: queries * columns }, () => -7 + random());
  for (let q = 0; q < 10; q++) logits[q * columns + 1 + q] = 2 + random();
  return { boxes, logits };
}

type LibreYolo = {
  readonly PostProcessor: new (config: object) => {
    process(results: object, names: string[], scale: object, family: string): readonly unknown[];
  };
};

async function libreYolo(): Promise<LibreYolo> {
  const packages = ["libreyolo-web@0.0.6", "onnxruntime-web@1.30.0"];
  const program = await fetchPackage("libreyolo", { packages, bin: "libreyolo-web/dist/index.mjs" });
  return (await import(pathToFileURL(program).href)) as LibreYolo;
}

/** The photo's place in the input, for libreyolo-web. */
const SCALE = {
  originalWidth: PHOTO.width,
  originalHeight: PHOTO.height,
  scale: 0.5,
  padX: 0,
  padY: 140,
  inputWidth: 640,
  inputHeight: 640,
};

async function yoloRows(boxwright: typeof Boxwright): Promise<Row[]> {
  const [spec] = WORKLOADS;
  const { tensors } = makeWorkload(spec);
  const [[name, tensor]] = Object.entries(tensors);
  const data = tensor.data as Float32Array;
  const dims = [...tensor.dims];
  const decoder = await boxwright.createDecoder({ family: "yolov8", classes: 80, inputSize: [640, 640] });
  const frame = { ...PHOTO, resize: "letterbox" } as const;
  const { PostProcessor } = await libreYolo();
  const libre = new PostProcessor({ confidenceThreshold: 0.25, iouThreshold: 0.45, maxDetections: 300 });
  const program = await fetchPackage("yolo-helpers", {
    packages: ["yolo-helpers@1.5.4", "@tensorflow/tfjs-core@4.22.0", "@tensorflow/tfjs-backend-wasm@4.22.0"],
    bin: "yolo-helpers/dist/yolo-box/common.js",
  });
  const require = createRequire(program);
  const tf = require("@tensorflow/tfjs-core") as { setBackend(name: string): Promise<boolean> };
  const wasm = require("@tensorflow/tfjs-backend-wasm") as { setWasmPaths(path: string): void };
  wasm.setWasmPaths(join(dirname(require.resolve("@tensorflow/tfjs-backend-wasm")), "/"));
  await tf.setBackend("wasm");
  const { decodeBoxSync } = require(program) as {
    decodeBoxSync(args: object): readonly (readonly unknown[])[];
  };
  const planes = Array.from({ length: 84 }, (_, c) => Array.from(data.subarray(c * 8400, (c + 1) * 8400)));
  return [
    { name: "yolov8, boxwright", found: () => decoder.decode({ [name]: { data, dims } }, frame).length },
    {
      name: "yolov8, boxwright, as objects",
      found: () => decoder.decode({ [name]: { data, dims } }, frame).toArray().length,
    },
    {
      name: "yolov8, libreyolo-web",
      found: () => libre.process({ [name]: { data, dims } }, [name], SCALE, "yolo").length,
    },
    {
      name: "yolov8, yolo-helpers",
      found: () =>
        decodeBoxSync({
          tf,
          output: [planes],
          num_classes: 80,
          maxOutputSize: 300,
          iouThreshold: 0.45,
          scoreThreshold: 0.25,
        })[0].length,
    },
  ];
}

async function queryRows(boxwright: typeof Boxwright): Promise<Row[]> {
  const { PostProcessor } = await libreYolo();
  const libre = new PostProcessor({ confidenceThreshold: 0.5, iouThreshold: 0.45, maxDetections: 300 });
  const rf = makeQueries(300, 91);
  const outputs = {
    dets: { data: rf.boxes, dims: [1, 300, 4] },
    labels: { data: rf.logits, dims: [1, 300, 91] },
  };
  const rfdetr = await boxwright.createDecoder(
    { family: "rfdetr", classes: 91, inputSize: [384, 384] },
    { confidenceThreshold: 0.5 },
  );
  const frame = { ...PHOTO, resize: "stretch" } as const;
  const program = await fetchPackage("transformers", {
    packages: ["@huggingface/transformers@4.3.1"],
    bin: "@huggingface/transformers/dist/transformers.node.mjs",
  });
  const { DetrImageProcessor, Tensor } = (await import(pathToFileURL(program).href)) as {
    DetrImageProcessor: new (config: object) => {
      post_process_object_detection(
        outputs: object,
        threshold: number,
        sizes: number[][],
      ): readonly { readonly scores: readonly number[] }[];
    };
    Tensor: new (type: string, data: Float32Array, dims: number[]) => object;
  };
  const detr = makeQueries(100, 92);
  // The last column means no object.
  for (let q = 10; q < 100; q++) detr.logits[q * 92 + 91] = 4;
  const processor = new DetrImageProcessor({ size: { shortest_edge: 800 } });
  const decoder = await boxwright.createDecoder(
    { family: "detr", classes: 91, inputSize: [800, 800] },
    { confidenceThreshold: 0.5 },
  );
  const tensors = {
    pred_boxes: { data: detr.boxes, dims: [1, 100, 4] },
    logits: { data: detr.logits, dims: [1, 100, 92] },
  };
  const theirs = {
    logits: new Tensor("float32", detr.logits, [1, 100, 92]),
    pred_boxes: new Tensor("float32", detr.boxes, [1, 100, 4]),
  };
  return [
    { name: "rf-detr, boxwright", found: () => rfdetr.decode(outputs, frame).length },
    {
      name: "rf-detr, libreyolo-web",
      found: () => libre.process(outputs, ["dets", "labels"], SCALE, "rfdetr").length,
    },
    { name: "detr, boxwright", found: () => decoder.decode(tensors, frame).length },
    {
      name: "detr, transformers.js",
      found: () =>
        processor.post_process_object_detection(theirs, 0.5, [[PHOTO.height, PHOTO.width]])[0].scores.length,
    },
  ];
}

async function main(): Promise<void> {
  console.log(machineLine(madeBy("bench:packages")));
  const boxwright = (await import(pathToFileURL("dist/index.mjs").href)) as typeof Boxwright;
  const lines: string[][] = [];
  for (const { name, found } of [...(await yoloRows(boxwright)), ...(await queryRows(boxwright))]) {
    const count = await found();
    const { median, min } = await timeOf(() => found() as number, MILLISECONDS);
    lines.push([name, us(median), us(min), String(count)]);
  }
  for (const line of layOut(["row", "median us", "min", "found"], lines, 1)) console.log(line);
}

await runScript(main);
