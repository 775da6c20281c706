/** Measures how long it takes to prepare a picture and to decode its tensor, for our engines and others. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Missing } from "../../test/runtimes/install.mjs";
import { define } from "../definition.ts";
import type { Timing } from "../measure.ts";
import { leastOf } from "../summary.ts";
import { layOut, times, us } from "../table.ts";
import { IOU_THRESHOLD, MAX_DETECTIONS } from "../workloads.ts";
import { folderOf, measureInBrowser } from "./browser.ts";
import { frameWorkload, pictureBoxes } from "./frame.ts";
import {
  areSameBoxes,
  hasRow,
  IN_BROWSER,
  isExact,
  type PictureBox,
  type PictureEngine,
  type PictureSpec,
} from "./picture.ts";
import type { PictureTask } from "./row.ts";

export interface PictureRow {
  readonly engine: PictureEngine;
  readonly status: "ok" | "missing" | "failed";
  readonly reason?: string;
  readonly timing?: Timing;
  /** Digest of the tensor. */
  readonly digest?: string;
  /** The detections, in pixels of the picture. */
  readonly boxes?: readonly PictureBox[];
}

export interface PictureReport extends PictureSpec {
  readonly rows: readonly PictureRow[];
  /** The boxes of the specification, if the rows decode. */
  readonly truth?: readonly PictureBox[];
}

type Measured = Omit<PictureRow, "engine">;

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Returns the arguments with which opencv.py decodes a tensor from a file. */
function decodeWords(folder: string): string[] {
  const file = join(folder, "output0.f32");
  const { tensors, threshold } = frameWorkload();
  writeFileSync(file, new Uint8Array((tensors.output0.data as Float32Array).slice().buffer));
  return [file, ...[threshold, IOU_THRESHOLD, MAX_DETECTIONS].map(String)];
}

/** Measures OpenCV with the first Python that has it. */
function measureOpenCv({ width, height, side, expected }: PictureSpec, milliseconds: number): Measured {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-opencv-"));
  try {
    const args = [script("opencv.py"), ...[width, height, side, milliseconds].map(String)];
    if (expected === null) args.push(...decodeWords(folder));
    for (const python of ["/usr/bin/python3", "python3"]) {
      try {
        execFileSync(python, ["-c", "import cv2"], { stdio: "ignore" });
      } catch {
        continue;
      }
      const output = execFileSync(python, args, { encoding: "utf8", stdio: "pipe" });
      return { status: "ok", ...(JSON.parse(output) as { timing: Timing; digest: string }) };
    }
    return { status: "missing", reason: "no Python with OpenCV (Debian: python3-opencv)" };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureOnce(task: PictureTask): Promise<Measured> {
  try {
    if (task.engine === "opencv") return measureOpenCv(task.spec, task.milliseconds);
    if (IN_BROWSER.includes(task.engine)) return (await measureInBrowser(task)) as Measured;
    const sharp = task.engine === "sharp" ? { sharp: await folderOf("sharp") } : {};
    const loader = new URL("../ts.mjs", import.meta.url).href;
    const words = [
      "--import",
      loader,
      "--no-warnings",
      script("row.ts"),
      JSON.stringify({ ...task, ...sharp }),
    ];
    const output = execFileSync(process.execPath, words, {
      encoding: "utf8",
      stdio: "pipe",
      maxBuffer: 1 << 26,
    });
    return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as Measured;
  } catch (error) {
    const reason = (error as Error).message.split("\n", 1)[0];
    return { status: error instanceof Missing ? "missing" : "failed", reason };
  }
}

/** True if the answer is the right one. */
const isRight = ({ digest, boxes }: Measured, { expected, truth }: PictureReport): boolean =>
  expected === null ? areSameBoxes(boxes ?? [], truth ?? []) : digest === expected;

/** Measures a picture. The fastest of several rounds counts, unless one has failed. */
export async function measurePicture(
  spec: PictureSpec,
  engines: readonly PictureEngine[],
  { entries, rounds, milliseconds }: Pick<PictureTask, "entries" | "milliseconds"> & { rounds: number },
): Promise<PictureReport> {
  const results = engines
    .filter((engine) => hasRow(spec, engine))
    .map((engine) => ({ engine, all: [] as Measured[] }));
  for (let round = 0; round < rounds; round++)
    for (const { engine, all } of results)
      if (all.every(({ status }) => status === "ok"))
        all.push(await measureOnce({ spec, engine, entries, milliseconds }));
  const truth = spec.expected === null ? { truth: pictureBoxes(spec, define(frameWorkload())) } : {};
  const rows = results.map(({ engine, all }): PictureRow => {
    const isBad = (one: Measured): boolean =>
      one.status !== "ok" || (isExact(engine) && !isRight(one, { ...spec, ...truth, rows: [] }));
    return { engine, ...(all.find(isBad) ?? leastOf(all, ({ timing }) => timing?.median ?? Infinity)) };
  });
  return { ...spec, ...truth, rows };
}

/** Returns the fault of a row, or undefined. */
export function pictureFault(row: PictureRow, report: PictureReport): string | undefined {
  if (row.status === "failed") return `FAILED: ${row.reason}`;
  if (row.status === "ok" && isExact(row.engine) && !isRight(row, report))
    return `MISMATCH: ${row.digest ?? `${row.boxes?.length} boxes`}, expected ${report.expected ?? report.truth?.length}`;
  return undefined;
}

/** Compares a row's answer with the right one, in words. */
function answerOf(row: PictureRow, report: PictureReport): string {
  if (report.truth === undefined) return isRight(row, report) ? "as OpenCV" : "own rounding";
  return isRight(row, report) ? `as defined, ${row.boxes?.length}` : `other boxes, ${row.boxes?.length}`;
}

/** Formats a picture's rows as a table. A ratio is a row's time divided by that of its reference. */
export function pictureTable(report: PictureReport): readonly string[] {
  const medianOf = (name: PictureEngine): number | undefined =>
    report.rows.find(({ engine }) => engine === name)?.timing?.median;
  const ratio = (median: number, to: number | undefined): string =>
    to === undefined ? "" : times(median / to);
  const lines = report.rows.map((row) => {
    const { engine, status, reason, timing } = row;
    if (!timing) return [engine, "", "", "", "", "", "", `${status}: ${reason}`];
    const { median, min, p90 } = timing;
    return [
      engine,
      us(median),
      us(min),
      us(p90),
      ratio(median, medianOf("simd")),
      ratio(median, medianOf("opencv")),
      answerOf(row, report),
      pictureFault(row, report) ?? "",
    ];
  });
  const head = ["engine", "median us", "min", "p90", "/simd", "/opencv", "answer", ""];
  return ["", report.title, ...layOut(head, lines, 1)];
}
