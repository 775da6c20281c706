/** Writes the config and the code for the current state. */

/** The state that the code is written for. */
export interface Shown {
  /** Typed options, or a config file; null: the config in the model's file. */
  readonly config: unknown;
  readonly options: { readonly [name: string]: unknown };
  /** Name of the model's file; null: the visitor gave tensors. */
  readonly model: string | null;
  readonly confidenceThreshold: number;
  readonly iouThreshold: number;
  /** Resize of the photo for the network's input. */
  readonly resize: string;
}

/** A text to copy. */
export interface Snippet {
  readonly name: string;
  readonly file: string;
  readonly text: string;
}

const isTyped = (config: unknown): config is object =>
  typeof config === "object" && config !== null && "family" in config;

/** Returns JSON with short lists on one line. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/\[\s+([^[\]{}]*?)\s+\]/g, (whole, inside: string) => {
    const line = `[${inside.replace(/\s*\n\s*/g, " ")}]`;
    return line.length < 100 ? line : whole;
  });
}

/** Returns the config as JSON: typed options including the thresholds, or the unchanged file. */
export function configOf({ config, options, confidenceThreshold, iouThreshold }: Shown): object {
  const own = isTyped(config) ? config : {};
  const all = { ...own, ...options, confidenceThreshold, iouThreshold };
  return config !== null && !isTyped(config) ? (config as object) : all;
}

/** Returns the options besides the config; empty if the config contains all. */
function besides(shown: Shown): string {
  const { config, options, confidenceThreshold, iouThreshold } = shown;
  if (config === null || isTyped(config)) return "";
  return json({ ...options, confidenceThreshold, iouThreshold });
}

/** Returns all texts that can be copied. */
export function snippets(shown: Shown): Snippet[] {
  const model = shown.model ?? "network.onnx";
  const isFile = shown.config !== null && !isTyped(shown.config);
  const options = besides(shown);
  const second = options === "" ? "" : `, ${options}`;
  const source = `{ model: MODEL, runtime: onnxRuntime(ort)${shown.config === null ? "" : ", config"} }`;
  const more = shown.config === null ? `, ${json(configOf(shown))}` : second;
  const open = (bytes: string): string => `createDetector(${source.replace("MODEL", bytes)}${more})`;
  const readNode =
    shown.config === null ? "" : `const config = JSON.parse(readFileSync("config.json", "utf8"));\n`;
  const readPage = shown.config === null ? "" : `const config = await (await fetch("config.json")).json();\n`;
  const say = `console.log(d.label, d.confidence.toFixed(2), d.x_min, d.y_min, d.x_max, d.y_max);`;
  return [
    { name: "Config", file: "config.json", text: `${json(configOf(shown))}\n` },
    {
      name: "Node",
      file: "photo.mjs",
      text: `// npm install boxwright onnxruntime-node jpeg-js
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-node";
import { createDetector, onnxRuntime } from "boxwright";

${readNode}const detector = await ${open(`readFileSync("${model}")`)};
for (const d of await detector.detect(readFileSync("photo.jpg")))
  ${say}
`,
    },
    {
      name: "Page",
      file: "main.js",
      text: `// npm install boxwright onnxruntime-web
import * as ort from "onnxruntime-web/wasm";
import { createDetector, drawCanvas, onnxRuntime } from "boxwright";

${readPage}const detector = await ${open(`"${model}"`)};
const image = document.querySelector("img");
const canvas = document.querySelector("canvas");
[canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
const context = canvas.getContext("2d");
context.drawImage(image, 0, 0);
drawCanvas(context, await detector.detect(image));
`,
    },
    {
      name: "Worker",
      file: "worker.js",
      text: `// In the page: worker.postMessage(bitmap, [bitmap]), with an ImageBitmap.
import * as ort from "onnxruntime-web/wasm";
import { createDetector, onnxRuntime } from "boxwright";

${readPage}const detector = await ${open(`"${model}"`)};
self.onmessage = async ({ data: bitmap }) => {
  const detections = await detector.detect(bitmap);
  bitmap.close();
  self.postMessage(detections.toArray());
};
self.postMessage("ready");
`,
    },
    {
      name: "Tensors",
      file: "tensors.mjs",
      text: `// A runtime of your own: hand over its output tensors.
import { createDecoder } from "boxwright";
${isFile ? 'import config from "./config.json" with { type: "json" };\n' : ""}
const decoder = await createDecoder(${isFile ? `config${second}` : json(configOf(shown))});
const frame = { width: 1280, height: 720, resize: "${shown.resize === "none" ? "letterbox" : shown.resize}" }; // the photo
for (const d of decoder.decode(outputs, frame)) // outputs: { name: { data, dims } }
  ${say}
`,
    },
    {
      name: "Agent",
      file: "settings.json",
      text: `${json({
        network: {
          model,
          ...(isFile && { config: "config.json" }),
          options: isFile ? JSON.parse(options) : configOf(shown),
          output_format: "detection",
        },
        sources: [{ kind: "v4l2", camera: "camera", path: "/dev/video0" }],
        sinks: [{ kind: "http", url: "http://localhost:8790" }],
      })}\n`,
    },
  ];
}
