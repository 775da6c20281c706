/** Runs a detector, then a second network that finds keypoints in the crop of each object (persons, or palms). */
import { columnsBy } from "../decode/columns.ts";
import type { Crop } from "../core/crop.ts";
import { refuse, refuseConfig } from "../core/errors.ts";
import { checkOptions, namesOnly } from "../core/options.ts";
import { POINT_FACTS } from "../core/pose-families.ts";
import type { Decoder } from "../decode/decoder.ts";
import { Detections, extend, setLength, type TaskColumn } from "../decode/detections.ts";
import type { ImageInput } from "../decode/prepare.ts";
import { familyOf } from "../heads/query.ts";
import { cropOf, nextCropOf } from "../tasks/pose/crop/of.ts";
import { POSE_ROWS } from "../tasks/pose/rows.ts";
import type { Arrivals } from "./arrivals.ts";
import { type DetectorImage, PixelReader } from "./image.ts";
import {
  type DetectAllOptions,
  type DetectorFrames,
  type Images,
  detectFrames,
  oneByOne,
} from "./iterate.ts";
import { OneCall } from "./one-call.ts";
import type { Detector, Timings } from "./types.ts";

const factsOf = ({ config }: Decoder) => POINT_FACTS[familyOf(config).family] ?? {};

/** Throws a ConfigError if the second network does not take crops of objects as input. */
export function checkPoints(decoder: Decoder): void {
  if (factsOf(decoder).network !== undefined) return;
  const families = Object.entries(POINT_FACTS).filter(([, facts]) => facts.network !== undefined);
  refuseConfig(
    "points",
    `a network of ${familyOf(decoder.config).family}`,
    `one that gets the crop of an object: ${families.map(([name]) => name).join(", ")}`,
    "family",
  );
}

/** IoU above which two crops show the same object, as in MediaPipe's hand_landmark_tracking. */
const SAME = 0.5;

/** An object with a known crop. `row` is its row among the detected boxes, or null if tracked from the last frame. */
interface Candidate {
  readonly crop: Crop;
  readonly row: number | null;
}

/** The keypoints of one object, as detections with one row. */
interface FoundPoints {
  readonly points: Detections;
  readonly row: number | null;
}

export class ChainedDetector implements Detector {
  readonly decoder: Decoder;
  readonly points: Decoder;
  readonly timings: { -readonly [K in keyof Timings]: Timings[K] } = { prepare: 0, run: 0, decode: 0 };
  readonly #first: Detector;
  readonly #second: Detector;
  readonly #most: number;
  /** True if the second network also outputs a score for the presence of the object. */
  readonly #hasPresence: boolean;
  readonly #pixels = new PixelReader();
  readonly #calls = new OneCall();

  constructor(first: Detector, second: Detector, most: number) {
    this.#first = first;
    this.#second = second;
    this.#most = most;
    this.decoder = first.decoder;
    this.points = second.decoder;
    this.#hasPresence = factsOf(second.decoder).network?.kind === "landmarks";
  }

  async detect(image: DetectorImage, options?: { readonly crop?: Crop }): Promise<Detections> {
    if (checkOptions(options ?? {}, namesOnly("crop")).crop)
      refuse(
        "detect",
        "a crop",
        "the whole image: this detector makes the crops of its network of points itself",
      );
    this.#calls.enter("detect");
    try {
      return await this.#detectOne(image, []);
    } finally {
      this.#calls.leave();
    }
  }

  detectAll(
    frames: DetectorFrames,
    options: DetectAllOptions = {},
  ): AsyncGenerator<Detections, void, undefined> {
    return detectFrames(frames, options, this.#calls, (source, arrivals) => this.#track(source, arrivals));
  }

  /** Tracks objects: the keypoints in the last image give the crops for this image. The detector finds new objects. */
  async *#track(source: Images, arrivals: Arrivals): AsyncGenerator<Detections, void, undefined> {
    let tracked: readonly Crop[] = [];
    for await (const image of oneByOne(source, arrivals)) {
      const detections = await this.#detectOne(image, tracked);
      tracked = Array.from({ length: detections.length }, (_, row) => nextCropOf(detections, row)).filter(
        (c) => c !== null && hasPixels(c),
      ) as Crop[];
      yield detections;
    }
  }

  close(): Promise<void> {
    return this.#calls.close(async () => {
      try {
        await this.#first.close();
      } finally {
        await this.#second.close();
      }
    });
  }

  /** Finds the keypoints of tracked objects and of newly detected objects. */
  async #detectOne(given: DetectorImage, tracked: readonly Crop[]): Promise<Detections> {
    const pixels = this.#pixels.readNow(given);
    const image = pixels instanceof Promise ? await pixels : pixels;
    Object.assign(this.timings, { prepare: 0, run: 0, decode: 0 });
    const isEnough = tracked.length >= this.#most;
    const boxes = isEnough ? null : (await this.#first.detect(image)).copy();
    if (boxes) this.#count(this.#first);
    const candidates = distinct([
      ...this.#cropsOf(boxes, image),
      ...tracked.map((crop) => ({ crop, row: null })),
    ]);
    // Take tracked objects first, then the best boxes.
    const chosen = [
      ...candidates.filter(({ row }) => row === null),
      ...candidates.filter(({ row }) => row !== null),
    ].slice(0, this.#most);
    const pointsOfBoxes: FoundPoints[] = [];
    // Pass rotation 0, since the angle of the crop already includes the rotation of the image.
    const asDelivered = { ...image, rotation: 0 as const };
    for (const { crop, row } of chosen) {
      const points = await this.#second.detect(asDelivered, { crop });
      this.#count(this.#second);
      if (points.length > 0) pointsOfBoxes.push({ points: points.copy(), row });
    }
    return this.#join(boxes, pointsOfBoxes);
  }

  #count({ timings }: Detector): void {
    for (const step of ["prepare", "run", "decode"] as const) this.timings[step] += timings[step];
  }

  /** Returns the crops of the best boxes. Skips boxes without an area. */
  #cropsOf(boxes: Detections | null, image: ImageInput): Candidate[] {
    return (boxes?.toArray() ?? [])
      .map((d, row) => ({ d, row }))
      .filter(({ d }) => d.width > 0 && d.height > 0 && Number.isFinite(d.width + d.height))
      .map(({ d, row }) => ({ crop: cropOf(this.points, d, image), row }))
      .filter(({ crop }) => hasPixels(crop));
  }

  /** Returns one result with the rows of all objects, the best first. */
  #join(boxes: Detections | null, objects: readonly FoundPoints[]): Detections {
    const rowOf = (one: FoundPoints): readonly [Detections, number] =>
      this.#hasPresence || !boxes || one.row === null ? [one.points, 0] : [boxes, one.row];
    const sorted = [...objects].sort((a, b) => scoreOf(rowOf(b)) - scoreOf(rowOf(a)));
    const rows = sorted.map(rowOf);
    const joined = new Detections(
      Float32Array.from(rows.flatMap(([d, row]) => [...d.boxes.subarray(row * 4, row * 4 + 4)])),
      Float32Array.from(rows, scoreOf),
      Int32Array.from(rows, ([d, row]) => d.classIds[row]),
      Uint32Array.from(rows, ([d, row]) => d.sources[row]),
      (this.#hasPresence ? objects[0]?.points.labels : null) ?? boxes?.labels ?? null,
    );
    setLength(joined, rows.length);
    const [first] = sorted;
    const valuesOf = (_: unknown, __: number, name: TaskColumn): Float32Array =>
      concatenate(sorted.map(({ points }) => points[name] as Float32Array));
    extend(joined, first ? columnsBy(first.points, valuesOf) : { keypoints: new Float32Array(0) }, POSE_ROWS);
    return joined;
  }
}

const scoreOf = ([d, row]: readonly [Detections, number]): number => d.scores[row];

function concatenate(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Drops a crop if a later crop, of a tracked object, shows the same object. */
function distinct(candidates: readonly Candidate[]): Candidate[] {
  if (candidates.every(({ row }) => row !== null)) return [...candidates];
  return candidates.filter(
    ({ crop }, i) =>
      !candidates.slice(i + 1).some((later) => later.row === null && overlapOf(crop, later.crop) > SAME),
  );
}

/** True if a crop is larger than one pixel. `prepare` refuses smaller crops, since they may be in 0..1 by mistake. */
const hasPixels = ({ width, height }: Crop): boolean => width > 1 || height > 1;

/** Returns the IoU of two crops. Ignores their angles, as MediaPipe does. */
function overlapOf(a: Crop, b: Crop): number {
  const across =
    Math.min(a.cx + a.width / 2, b.cx + b.width / 2) - Math.max(a.cx - a.width / 2, b.cx - b.width / 2);
  const down =
    Math.min(a.cy + a.height / 2, b.cy + b.height / 2) - Math.max(a.cy - a.height / 2, b.cy - b.height / 2);
  const shared = Math.max(0, across) * Math.max(0, down);
  return shared / (a.width * a.height + b.width * b.height - shared);
}
