/** Measures how long it takes to prepare a picture: our engines, OpenCV on one thread, and usual JavaScript. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Timing } from "../measure.ts";
import { leastOf } from "../summary.ts";
import { layOut, times, us } from "../table.ts";
import { isExact, type PictureEngine, type PictureSpec } from "./picture.ts";
import type { PictureTask } from "./row.ts";

export interface PictureRow {
  readonly engine: PictureEngine;
  readonly status: "ok" | "missing" | "failed";
  readonly reason?: string;
  readonly timing?: Timing;
  readonly digest?: string;
}

export interface PictureReport extends PictureSpec {
  readonly rows: readonly PictureRow[];
}

type Measured = Omit<PictureRow, "engine">;

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Measures OpenCV with the first Python that has it. */
function measureOpenCv({ width, height, side }: PictureSpec, milliseconds: number): Measured {
  const args = [script("opencv.py"), ...[width, height, side, milliseconds].map(String)];
  for (const python of ["/usr/bin/python3", "python3"])
    try {
      const output = execFileSync(python, args, { encoding: "utf8", stdio: "pipe" });
      return { status: "ok", ...(JSON.parse(output) as { timing: Timing; digest: string }) };
    } catch {
      // Not there, or without OpenCV.
    }
  return { status: "missing", reason: "no Python with OpenCV (Debian: python3-opencv)" };
}

function measureOnce(task: PictureTask): Measured {
  if (task.engine === "opencv") return measureOpenCv(task.spec, task.milliseconds);
  const loader = new URL("../ts.mjs", import.meta.url).href;
  const args = ["--import", loader, "--no-warnings", script("row.ts"), JSON.stringify(task)];
  try {
    const output = execFileSync(process.execPath, args, { encoding: "utf8", stdio: "pipe" });
    return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as Measured;
  } catch (error) {
    return { status: "failed", reason: String(error).split("\n", 1)[0] };
  }
}

/** Measures a picture. Of several rounds the least disturbed counts, unless one has failed. */
export function measurePicture(
  spec: PictureSpec,
  engines: readonly PictureEngine[],
  { entry, rounds, milliseconds }: { entry: string; rounds: number; milliseconds: number },
): PictureReport {
  const results = engines.map((engine) => ({ engine, all: [] as Measured[] }));
  for (let round = 0; round < rounds; round++)
    for (const { engine, all } of results) all.push(measureOnce({ spec, engine, entry, milliseconds }));
  const rows = results.map(({ engine, all }): PictureRow => {
    const bad = all.find((one) => one.status !== "ok" || (isExact(engine) && one.digest !== spec.expected));
    return { engine, ...(bad ?? leastOf(all, ({ timing }) => timing?.median ?? Infinity)) };
  });
  return { ...spec, rows };
}

/** Returns what is wrong with a row, or undefined. */
export function pictureFault(row: PictureRow, { expected }: PictureSpec): string | undefined {
  if (row.status === "failed") return `FAILED: ${row.reason}`;
  if (row.status === "ok" && isExact(row.engine) && row.digest !== expected)
    return `MISMATCH: ${row.digest}, expected ${expected}`;
  return undefined;
}

/** Lays out a picture as a table. */
export function pictureTable(report: PictureReport): readonly string[] {
  const openCv = report.rows.find(({ engine }) => engine === "opencv")?.timing?.median;
  const lines = report.rows.map((row) => {
    const { engine, status, reason, timing, digest } = row;
    if (!timing) return [engine, "", "", "", "", "", `${status}: ${reason}`];
    const answer = digest === report.expected ? "as OpenCV" : "own rounding";
    return [
      engine,
      us(timing.median),
      us(timing.min),
      us(timing.p90),
      openCv === undefined ? "" : times(timing.median / openCv),
      answer,
      pictureFault(row, report) ?? "",
    ];
  });
  return [
    "",
    report.title,
    ...layOut(["engine", "median us", "min", "p90", "/opencv", "answer", ""], lines, 1),
  ];
}
