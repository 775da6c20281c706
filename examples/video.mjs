// Finds the objects in each frame of a video and prints one line of JSON for each frame. ffmpeg reads the video.
//
//   npm install boxwright onnxruntime-node     (and ffmpeg, from ffmpeg.org or the system's packages)
//   node video.mjs yolo11n.onnx street.mp4 > street.ndjson
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-node";
import { createDetector, onnxRuntime } from "boxwright";

const [model, video] = process.argv.slice(2);
if (video === undefined) {
  console.error("usage: node video.mjs MODEL.onnx VIDEO");
  process.exit(2);
}

/** Returns the size of the video's frames, as ffprobe states it. */
function frameSize() {
  const words = [
    "-v",
    "error",
    "-select_streams",
    "v:0",
    "-show_entries",
    "stream=width,height",
    "-of",
    "json",
  ];
  const [stream] = JSON.parse(execFileSync("ffprobe", [...words, video], { encoding: "utf8" })).streams;
  if (stream === undefined) throw new Error(`${video}: got a file without a video stream`);
  return stream;
}

/** Yields the frames of the video, each 3 bytes a pixel: red, green, blue. */
async function* readFrames({ width, height }) {
  // -noautorotate keeps the size that ffprobe told. -fps_mode passthrough keeps each frame once.
  const words = ["-v", "error", "-noautorotate", "-i", video, "-map", "0:v:0", "-fps_mode", "passthrough"];
  const ffmpeg = spawn("ffmpeg", [...words, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(ffmpeg, "close");
  const size = width * height * 3;
  // One buffer is enough: the detector has read a frame before it asks for the next one.
  const data = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of ffmpeg.stdout) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + size - filled);
      data.set(part, filled);
      at += part.length;
      filled += part.length;
      if (filled < size) continue;
      yield { data, width, height, format: "rgb" };
      filled = 0;
    }
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`ffmpeg ended with code ${code}`);
}

const network = { model: readFileSync(model), runtime: onnxRuntime(ort) };
const detector = await createDetector(network, { onNote: console.warn });
let frame = 0;
for await (const detections of detector.detectAll(readFrames(frameSize())))
  console.log(JSON.stringify({ frame: frame++, detections: detections.toArray() }));
await detector.close();
