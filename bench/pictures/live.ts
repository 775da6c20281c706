/**
 * Measures a live frame of 1280 x 720 in headless Chromium, from the video of its fake camera to boxes, without the
 * network: `npm run bench:live`. Arguments select how the frame is read. `--ms` limits the time of each way.
 */
import { parseArgs } from "node:util";
import { Missing } from "../../test/runtimes/install.mjs";
import { layOut } from "../table.ts";
import { runPage } from "./browser.ts";
import type { Way } from "./live-page.ts";

const WAYS: readonly (readonly [way: Way, about: string])[] = [
  ["copyTo", "boxwright, VideoFrame.copyTo"],
  ["canvas", "boxwright, a canvas"],
  ["ultralytics", "@ultralytics/yolo, a canvas"],
];
const CAMERA = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"];

interface Row {
  readonly median: number;
  readonly min: number;
  readonly p90: number;
  /** Medians of the three parts of a step. */
  readonly read: number;
  readonly prepare: number;
  readonly decode: number;
  readonly frames: number;
  readonly found: number;
}

const { values, positionals } = parseArgs({
  options: { ms: { type: "string", default: "4000" } },
  allowPositionals: true,
});
const lines: string[][] = [];
for (const [way, about] of WAYS) {
  if (positionals.length > 0 && !positionals.includes(way)) continue;
  try {
    const define = { WAY: JSON.stringify(way), MILLISECONDS: values.ms };
    const row = (await runPage("live-page.ts", {
      define,
      theirs: way === "ultralytics",
      flags: CAMERA,
    })) as Row;
    const { median, min, p90, read, prepare, decode } = row;
    const figures = [median, min, p90, read, prepare, decode].map((ms) => ms.toFixed(2));
    lines.push([about, ...figures, String(row.frames), String(row.found)]);
  } catch (error) {
    const reason = (error as Error).message.split("\n", 1)[0];
    lines.push([
      about,
      `${error instanceof Missing ? "missing" : "FAILED"}: ${reason}`,
      ...Array<string>(7).fill(""),
    ]);
    if (!(error instanceof Missing)) process.exitCode = 1;
  }
}
console.log(
  layOut(["way", "median, ms", "min", "p90", "read", "prepare", "decode", "frames", "boxes"], lines, 1).join(
    "\n",
  ),
);
