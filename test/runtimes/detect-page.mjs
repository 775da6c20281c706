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
      if (++frames === 3) break;
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
