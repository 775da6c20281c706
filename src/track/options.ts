/** Options of the trackers, with their published defaults and their checks. */
import { refuseValue } from "../core/errors.ts";
import {
  FLAG,
  FROM_ZERO,
  FUNCTION,
  PIXEL_OFFSET,
  POSITIVE,
  type Rule,
  SIZE,
  UNIT,
  checkOptions,
  oneOf,
} from "../core/options.ts";
import { isKeyed, show } from "../core/tensor.ts";
import { warnInDevelopment } from "../core/warn.ts";

interface CommonOptions {
  /** Width and height of the frame in pixels, for boxes in 0..1. Absent: boxes are in pixels. */
  readonly size?: readonly [number, number];
  /** Nominal frames per second, the unit of time of the filters' noise. Default 30. */
  readonly frameRate?: number;
  /**
   * Seconds without a detection after which a track ends, even if no frames came. Default: 1 second. For `sort`: one
   * frame, or 1 second without frames.
   */
  readonly maxLost?: number;
  /** True: a track only matches detections of its class. Default false, as published. */
  readonly perClass?: boolean;
  /** Receives each note about a likely mistake once, for instance about frame numbers in place of seconds. */
  readonly onNote?: (note: string) => void;
}

/** SORT as published. */
export interface SortOptions extends CommonOptions {
  readonly method: "sort";
  /** Smallest IoU of a detection with the predicted box. Default 0.3. */
  readonly iouThreshold?: number;
  /** Count of consecutive frames with a detection before a track gets its id. Default 3. */
  readonly minHits?: number;
}

/** OC-SORT as published. */
export interface OcSortOptions extends CommonOptions {
  readonly method: "ocsort";
  /** Smallest IoU of a detection with the predicted box. Default 0.3. */
  readonly iouThreshold?: number;
  /** Count of consecutive frames with a detection before a track gets its id. Default 3. */
  readonly minHits?: number;
  /** Score that a detection must exceed to be used. Default 0.6. */
  readonly confidenceThreshold?: number;
  /** Count of frames over which a track's direction is measured. Default 3. */
  readonly directionFrames?: number;
  /** Weight of the direction relative to the IoU. Default 0.2. */
  readonly inertia?: number;
  /** True: detections with scores between 0.1 and `confidenceThreshold` keep tracks alive too. Default false. */
  readonly useLowScores?: boolean;
}

/** ByteTrack as published. The default method. */
export interface ByteTrackOptions extends CommonOptions {
  readonly method?: "bytetrack";
  /** Score above which detections are matched first. Default 0.5. */
  readonly highThreshold?: number;
  /** Score above which, up to `highThreshold`, detections are matched second. Default 0.1. */
  readonly lowThreshold?: number;
  /** Smallest score of a detection that starts a track. Default: `highThreshold` + 0.1. */
  readonly newThreshold?: number;
  /** Largest cost of a first match, which is 1 - IoU x score. Default 0.8. */
  readonly matchThreshold?: number;
  /** False: the cost is 1 - IoU, as for MOT20. Default true. */
  readonly fuseScore?: boolean;
  /** Pixels added to widths and heights in the IoU. Default 1, as published. */
  readonly pixelOffset?: number;
}

/** Options of `createTracker`: the method and its settings. */
export type TrackerOptions = SortOptions | OcSortOptions | ByteTrackOptions;

/** Options with the method filled in. */
type RequireMethod = SortOptions | OcSortOptions | (ByteTrackOptions & { readonly method: "bytetrack" });

/** Settings of a method with every default filled in. */
export type Complete<T extends TrackerOptions> = Omit<Required<T>, "size" | "onNote"> & {
  readonly onNote: ((note: string) => void) | null;
  readonly size: readonly [number, number] | null;
  /** Seconds without frames after which a track ends: `maxLost`, or 1 by default. */
  readonly longestPause: number;
};

const FRAMES: Rule = [
  "a whole number from 1 to 100",
  (x) => Number.isInteger(x) && (x as number) > 0 && (x as number) <= 100,
];

const COMMON = {
  method: oneOf(["sort", "bytetrack", "ocsort"]),
  size: SIZE,
  frameRate: POSITIVE,
  maxLost: ["a number of seconds from 0 up", FROM_ZERO[1]],
  perClass: FLAG,
  onNote: FUNCTION,
} as const;

/** Rule and default of each method's options. */
const METHODS = {
  sort: { iouThreshold: [UNIT, 0.3], minHits: [FRAMES, 3] },
  ocsort: {
    iouThreshold: [UNIT, 0.3],
    minHits: [FRAMES, 3],
    confidenceThreshold: [UNIT, 0.6],
    directionFrames: [FRAMES, 3],
    inertia: [UNIT, 0.2],
    useLowScores: [FLAG, false],
  },
  bytetrack: {
    highThreshold: [UNIT, 0.5],
    lowThreshold: [UNIT, 0.1],
    newThreshold: [UNIT, null],
    matchThreshold: [UNIT, 0.8],
    fuseScore: [FLAG, true],
    pixelOffset: [PIXEL_OFFSET, 1],
  },
} as const;

/** Thresholds that scores are compared with, in f32. */
const SCORE_THRESHOLDS = ["confidenceThreshold", "highThreshold", "lowThreshold", "newThreshold"];

/** Checks the options and fills in the defaults. Throws a RangeError that names the option. */
export function complete(options: TrackerOptions): Complete<TrackerOptions> {
  if (!isKeyed(options)) refuseValue("options", show(options), '{ method: "sort", "bytetrack" or "ocsort" }');
  const given = { ...options, method: options.method ?? "bytetrack" } as RequireMethod;
  // Check the method first, since the other options depend on it.
  if (!COMMON.method[1](given.method)) refuseValue("method", show(given.method), COMMON.method[0]);
  const ofMethod: Readonly<Record<string, readonly [Rule, unknown]>> = METHODS[given.method];
  const rules = Object.entries(ofMethod).map(([name, [rule]]) => [name, rule] as const);
  checkOptions(given, { ...COMMON, ...Object.fromEntries(rules) }, { more: ` for "${given.method}"` });
  const frameRate = given.frameRate ?? 30;
  const settings: Record<string, unknown> = {
    method: given.method,
    size: given.size ?? null,
    frameRate,
    maxLost: given.maxLost ?? (given.method === "sort" ? 1 / frameRate : 1),
    longestPause: given.maxLost ?? 1,
    perClass: given.perClass ?? false,
    onNote: given.onNote ?? warnInDevelopment,
  };
  const values = given as unknown as Readonly<Record<string, unknown>>;
  for (const [name, [, byDefault]] of Object.entries(ofMethod)) settings[name] = values[name] ?? byDefault;
  if (given.method === "bytetrack") {
    const { highThreshold: high, lowThreshold: low } = settings as {
      highThreshold: number;
      lowThreshold: number;
    };
    if (low > high)
      refuseValue("lowThreshold", `${low} above highThreshold, ${high}`, "at most highThreshold");
    settings["newThreshold"] = given.newThreshold ?? high + 0.1;
    if ((settings["newThreshold"] as number) > 1)
      refuseValue(
        "highThreshold",
        `${high}, and no score is above it by 0.1, as a new track needs by default`,
        "0.9 or less, or newThreshold",
      );
  }
  for (const name of SCORE_THRESHOLDS)
    if (name in settings) settings[name] = Math.fround(settings[name] as number);
  return settings as unknown as Complete<TrackerOptions>;
}
