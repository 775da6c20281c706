/** Rows for networks of other tasks: masks of RF-DETR, cells of FOMO, and text of DBNet. OpenCV times some too. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type * as Boxwright from "../src/entries/index.ts";
import type { MaskRow } from "./masks.ts";
import { mulberry32 } from "./random.ts";

const PHOTO = { width: 1280, height: 720 } as const;

/** RF-DETR-Seg-Nano: 100 queries, maps of a quarter of the 312-pixel input, and 91 columns of COCO. */
const QUERIES = 100;
const MAP = 78;
const COLUMNS = 91;
const OBJECTS = 20;

interface Queries {
  readonly boxes: Float32Array;
  readonly logits: Float32Array;
  readonly maps: Float32Array;
}

/** Makes queries. The first 20 find an object, whose mask is an ellipse in the box. */
function makeQueries(): Queries {
  const random = mulberry32(61);
  const boxes = new Float32Array(QUERIES * 4);
  const logits = new Float32Array(QUERIES * COLUMNS).fill(-6);
  const maps = new Float32Array(QUERIES * MAP * MAP);
  for (let q = 0; q < QUERIES; q++) {
    const [w, h] = [0.1 + 0.3 * random(), 0.1 + 0.3 * random()];
    const [cx, cy] = [w / 2 + random() * (1 - w), h / 2 + random() * (1 - h)];
    boxes.set([cx, cy, w, h], q * 4);
    if (q < OBJECTS) logits[q * COLUMNS + 1 + (q % 80)] = 1 + 2 * random();
    for (let y = 0, at = q * MAP * MAP; y < MAP; y++)
      for (let x = 0; x < MAP; x++) {
        const [dx, dy] = [((x + 0.5) / MAP - cx) / w, ((y + 0.5) / MAP - cy) / h];
        maps[at++] = 4 - 16 * (dx * dx + dy * dy) + 0.5 * random();
      }
  }
  return { boxes, logits, maps };
}

/** Makes a map of 640 x 640 pixels with lines of text, some of them rotated. */
function makeText(lines: number): Float32Array {
  const random = mulberry32(67);
  const map = Float32Array.from({ length: 640 * 640 }, () => 0.1 * random());
  for (let i = 0; i < lines; i++) {
    const [cx, cy] = [100 + 440 * ((i % 2) + 0.2 * random()) * 0.6, 20 + (600 * i) / lines];
    const [length, thick, angle] = [80 + 40 * random(), 6 + 2 * random(), 0.1 * (random() - 0.5)];
    for (let y = Math.floor(cy - 16); y < cy + 16; y++)
      for (let x = Math.floor(cx - length); x < cx + length; x++) {
        const along = (x - cx) * Math.cos(angle) + (y - cy) * Math.sin(angle);
        const across = (y - cy) * Math.cos(angle) - (x - cx) * Math.sin(angle);
        if (Math.abs(along) < length * 0.9 && Math.abs(across) < thick && y >= 0 && y < 640 && x >= 0)
          map[y * 640 + x] = 0.8 + 0.1 * random();
      }
  }
  return map;
}

/** Makes cells [1,n,n,C+1] that sum to 1. Where `isSeen` is true, a cell holds an object of the first class. */
function makeCells(n: number, classes: number, isSeen: (x: number, y: number) => boolean): Float32Array {
  const random = mulberry32(71);
  const cells = new Float32Array(n * n * (classes + 1));
  for (let i = 0; i < n * n; i++) {
    const score = isSeen(i % n, Math.floor(i / n)) ? 0.6 + 0.3 * random() : 0.05 * random();
    cells[i * (classes + 1)] = 1 - score;
    cells[i * (classes + 1) + 1] = score;
  }
  return cells;
}

/** Returns a row that OpenCV in Python times, or no row without OpenCV. */
function opencvRow(name: string, task: string, values: Float32Array, sizes: readonly number[]): MaskRow[] {
  const program = fileURLToPath(new URL("peers/opencv.py", import.meta.url));
  const call = (milliseconds: number): ReturnType<typeof spawnSync> =>
    spawnSync("/usr/bin/python3", [program, task, String(milliseconds), ...sizes.map(String)], {
      input: Buffer.from(values.buffer, values.byteOffset, values.byteLength),
      maxBuffer: 1 << 26,
    });
  if (spawnSync("/usr/bin/python3", ["-c", "import cv2"]).status !== 0) {
    console.error(`${name}: python3-opencv is not installed`);
    return [];
  }
  let answer: readonly number[] = [];
  return [
    {
      name,
      run: () => 1,
      timed: (milliseconds) => {
        const { stdout, stderr, status } = call(milliseconds);
        if (status !== 0) throw new Error(`${name}: ${String(stderr)}`);
        const told = JSON.parse(String(stdout)) as Record<"median" | "min" | "p90", number> & {
          answer: number[];
        };
        ({ answer } = told);
        return told;
      },
      answer: () => ({ values: answer }),
    },
  ];
}

const ENGINES = ["simd", "scalar", "ts"] as const;

/**
 * Masks of 20 objects at 1280 x 720. Two answers agree if the pixel counts of each mask differ by at most one in a
 * thousand.
 */
function queryRows({ createDecoderSync }: typeof Boxwright): MaskRow[] {
  const { boxes, logits, maps } = makeQueries();
  const outputs = {
    dets: { data: boxes, dims: [1, QUERIES, 4] },
    labels: { data: logits, dims: [1, QUERIES, COLUMNS] },
    masks: { data: maps, dims: [1, QUERIES, MAP, MAP] },
  };
  const rows = ENGINES.map((engine): MaskRow => {
    const decoder = createDecoderSync(
      { family: "rfdetr", task: "segment", classes: COLUMNS, inputSize: [312, 312] },
      { engine, confidenceThreshold: 0.5 },
    );
    const areas = (): number[] => {
      const found = decoder.decode(outputs, { ...PHOTO, resize: "stretch" });
      return Array.from({ length: found.length }, (_, i) => found.mask(i).area);
    };
    return {
      name: `rfdetr-masks-20-${engine}`,
      run: () => areas().length,
      answer: () => {
        const values = areas();
        return { values, ...(values.length === OBJECTS ? {} : { fault: `${values.length} objects` }) };
      },
    };
  });
  const seen = maps.subarray(0, OBJECTS * MAP * MAP);
  return [
    ...rows,
    ...opencvRow("rfdetr-masks-20-opencv", "masks", seen, [OBJECTS, MAP, MAP, PHOTO.width, PHOTO.height]),
  ];
}

/** Returns a row that decodes a tensor. */
function decodeRow(
  { createDecoderSync }: typeof Boxwright,
  name: string,
  options: Boxwright.TypedOptions,
  tensor: { readonly data: Float32Array; readonly dims: readonly number[] },
): MaskRow {
  const decoder = createDecoderSync(options);
  const run = (): Boxwright.Detections => decoder.decode({ output0: tensor });
  return {
    name,
    run: () => run().length + 1,
    answer: () => {
      const { length, boxes } = run().copy();
      return { values: [length, ...boxes] };
    },
  };
}

/** Returns the rows. Rows with "-worst" have the input for which a step with quadratic time takes longest. */
export function networkRows(boxwright: typeof Boxwright): MaskRow[] {
  const fomo = (n: number) => ({ family: "fomo", classes: 3, inputSize: [8 * n, 8 * n] }) as const;
  const cells = (n: number, isSeen: (x: number, y: number) => boolean) => ({
    data: makeCells(n, 3, isSeen),
    dims: [1, n, n, 4],
  });
  const text = { data: makeText(20), dims: [1, 1, 640, 640] };
  // No two of these cells touch, so each of the 6,400 cells is a group. The limit is 4,096 groups.
  const apart = cells(160, (x, y) => x % 2 === 0 && y % 2 === 0);
  // Dots, which have more borders than the decoder examines.
  const dots = Float32Array.from({ length: 640 * 640 }, (_, i) =>
    (i % 640) % 8 < 6 && Math.floor(i / 640) % 8 < 6 ? 0.9 : 0.1,
  );
  return [
    ...queryRows(boxwright),
    decodeRow(
      boxwright,
      "fomo-12x12",
      fomo(12),
      cells(12, (x, y) => x % 5 < 2 && y % 4 < 2),
    ),
    decodeRow(
      boxwright,
      "fomo-20x20",
      fomo(20),
      cells(20, (x, y) => x % 5 < 2 && y % 4 < 2),
    ),
    decodeRow(boxwright, "fomo-160x160-worst", fomo(160), apart),
    decodeRow(boxwright, "text-640x640", { family: "dbnet", labels: ["text"] }, text),
    ...opencvRow("text-640x640-opencv", "text", text.data, [640, 640]),
    decodeRow(
      boxwright,
      "text-640x640-worst",
      { family: "dbnet", labels: ["text"] },
      {
        data: dots,
        dims: [1, 1, 640, 640],
      },
    ),
  ];
}
