/** Runs in the page: makes a detector by the runtime's own package, and finds what pictures state. */
import { createDetector, drawCanvas } from "boxwright";
import { CONFIG, expectedOf, pictureOf } from "echo-network";
import { layout, setUp } from "set-up";

const dog = [51, 102, 153, 204, 230, 255];
const cat = [10, 20, 30, 40, 128, 0];
const fetched = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
let passed = 0;
const failures = [];

function check(what, found, rows) {
  const text = (list) =>
    JSON.stringify(
      Array.from(list, (d) => Object.values(d).map((x) => (typeof x === "number" ? +x.toFixed(5) : x))),
    );
  const [got, expected] = [text(found), text(expectedOf(rows))];
  if (got === expected) passed++;
  else failures.push(`${what}: got ${got}, expected ${expected}`);
}

/** Returns a playing video that shows a canvas. */
async function videoOf(canvas) {
  const video = document.createElement("video");
  video.muted = true;
  video.srcObject = canvas.captureStream();
  const first = new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  await video.play();
  await first;
  return video;
}

/** Detects in a playing video, by VideoFrame and by a canvas, and follows it as a stream. */
async function checkVideo(detector, canvas, rows) {
  const paint = setInterval(() => canvas.getContext("2d").putImageData(opaque(rows), 0, 0), 50);
  const video = await videoOf(canvas);
  const { copyTo } = VideoFrame.prototype;
  let copies = 0;
  VideoFrame.prototype.copyTo = function (...given) {
    copies++;
    return copyTo.apply(this, given);
  };
  try {
    check("a video", await detector.detect(video), rows);
    if (copies > 0) passed++;
    else failures.push("a video was not read by VideoFrame.copyTo");
    let frames = 0;
    for await (const found of detector.detectAll(video)) {
      check(`frame ${frames} of a video`, found, rows);
      // From the third frame on, frame and tensor stand in the memory of the kernel.
      if (++frames === 5) break;
    }
    // A reader that has failed once takes the canvas from then on.
    VideoFrame.prototype.copyTo = () => Promise.reject(new Error("refused by the test"));
    check("a video whose frames cannot be copied", await detector.detect(video), rows);
  } finally {
    VideoFrame.prototype.copyTo = copyTo;
    clearInterval(paint);
    video.srcObject.getTracks().forEach((track) => track.stop());
  }
}

/** Returns a detector by a runtime without a network, and the tensor that it last got. */
async function openWatched(width, height) {
  let given;
  const input = new Float32Array(3 * width * height);
  const run = async () => {
    given = input.slice();
    return { output0: { data: new Float32Array(6), dims: [1, 1, 6] } };
  };
  const session = {
    inputs: [{ name: "images", dims: [1, 3, height, width], type: "float32" }],
    overlaps: false,
    createLane: () => ({ input: () => input, run, release() {}, close() {} }),
    close() {},
  };
  const config = { ...CONFIG, inputSize: [width, height], prepare: { std: 1 } };
  return { detector: await createDetector({ session, config }), given: () => given };
}

/** Frames of each matrix and range give what a canvas shows of them, but for one step of rounding. */
async function checkFrames() {
  for (const [width, height] of [
    [64, 48],
    [63, 47],
  ]) {
    const { detector, given } = await openWatched(width, height);
    const chroma = [(width + 1) >> 1, (height + 1) >> 1];
    const data = new Uint8Array(width * height + 2 * chroma[0] * chroma[1]);
    // A ramp of luma, and chroma of two colours.
    data.forEach(
      (_, i) => (data[i] = i < width * height ? 40 + ((i % width) * 150) / width : 100 + (i % 2) * 40),
    );
    for (const format of ["I420", "NV12"])
      for (const matrix of ["smpte170m", "bt709"])
        for (const fullRange of [false, true]) {
          const colorSpace = { matrix, primaries: matrix, transfer: matrix, fullRange };
          const size = { codedWidth: width, codedHeight: height };
          const frame = new VideoFrame(data, { ...size, format, colorSpace, timestamp: 0 });
          await detector.detect(frame);
          const read = given();
          const context = new OffscreenCanvas(width, height).getContext("2d");
          context.drawImage(frame, 0, 0);
          frame.close();
          await detector.detect(context.getImageData(0, 0, width, height));
          const most = given().reduce((max, value, i) => Math.max(max, Math.abs(value - read[i])), 0);
          if (most <= 1) passed++;
          else failures.push(`${width}x${height} ${format} ${matrix} ${fullRange}: differs by ${most}`);
        }
    await detector.close();
  }
}

/** A picture as a canvas has it: opaque, or else the canvas forgets its colours. */
function opaque(rows) {
  const { data, width, height } = pictureOf(rows, layout);
  for (let i = 3; i < data.length; i += 4) data[i] = 255;
  return new ImageData(data, width, height);
}

async function run() {
  const { source, options } = await setUp({ fetched, config: CONFIG });
  const detector = await createDetector(source, options);
  check("one image", await detector.detect(pictureOf([dog, cat], layout)), [dog, cat]);
  check("an empty image", await detector.detect(pictureOf([], layout)), []);
  check("an ImageBitmap", await detector.detect(await createImageBitmap(opaque([cat]))), [cat]);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [32, 24];
  canvas.getContext("2d").putImageData(opaque([dog]), 0, 0);
  check("a canvas", await detector.detect(canvas), [dog]);
  await checkVideo(detector, canvas, [dog]);
  await checkFrames();
  const stream = [[dog], [], [cat], [dog, cat], [cat]];
  let i = 0;
  for await (const found of detector.detectAll(stream.map((rows) => pictureOf(rows, layout))))
    check(`frame ${i}`, found, stream[i++]);
  if (i !== stream.length) failures.push(`got ${i} frames, expected ${stream.length}`);
  drawCanvas(canvas.getContext("2d"), await detector.detect(pictureOf([dog], layout)));
  const { data } = canvas.getContext("2d").getImageData(0, 0, 32, 24);
  if (data.some((value, at) => at % 4 === 2 && value > 0)) passed++;
  else failures.push("drawCanvas drew nothing");
  const { timings } = detector;
  await detector.close();
  return { passed, failed: failures.length, failures, timings };
}

try {
  globalThis.boxwrightResult = await run();
} catch (e) {
  globalThis.boxwrightError = String(e?.stack ?? e);
}
