/** Decodes tensors: opens decoders, finds candidates, makes heat maps. */
import {
  type Decoder,
  type DecoderOptions,
  type Detections,
  type Frame,
  type LabelSet,
  type Model,
  createDecoder,
  labelsOf,
  orientedIou,
} from "boxwright";
import type { NamedTensor } from "@repo/src/node/files/tensor.ts";
import type { HeatMap } from "../heat.ts";

/** All arguments of a decode. */
export interface DecodeInput {
  readonly config: unknown;
  readonly options: DecoderOptions & { readonly labels?: LabelSet | DecoderOptions["labels"] };
  readonly tensors: readonly NamedTensor[];
  readonly frame: Frame | undefined;
}

/** The sliders' two thresholds. */
export interface Thresholds {
  readonly confidenceThreshold: number;
  readonly iouThreshold: number;
}

/** A box above the threshold, and its fate in suppression. */
export interface Candidate {
  readonly label: string;
  readonly class_id: number;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  readonly source: number;
  /** Index of the detection that this candidate became, or that suppressed it. -1: left out because of a limit. */
  readonly detection: number;
  readonly isKept: boolean;
  /** IoU with the detection that overlaps this candidate most; 1 for a kept candidate. */
  readonly iou: number;
}

/** Limit of listed candidates. */
const MOST_CANDIDATES = 3000;
/** Limit of cells in a heat map. */
const MOST_CELLS = 200_000;

/** Returns options with a list of labels instead of the list's name. */
export function withLabels({ labels, ...options }: DecodeInput["options"]): DecoderOptions {
  if (labels === undefined) return options;
  return { ...options, labels: typeof labels === "string" ? labelsOf(labels) : labels };
}

/** Opens a decoder for the tensors. */
export async function openDecoder(
  { config, options }: DecodeInput,
  more: DecoderOptions = {},
): Promise<Decoder> {
  return createDecoder(config as Model, { ...withLabels(options), ...more });
}

/** Returns rules that suppress nothing. */
const withoutSuppression = ({ rules }: DecoderOptions): DecoderOptions => ({
  rules: { ...(typeof rules === "string" ? { set: rules } : rules), suppress: "none", maxCandidates: 0 },
});

/** Returns options without `suppression`, so that no method suppresses candidates. */
function withoutMethod(options: DecodeInput["options"]): DecodeInput["options"] {
  const rest: { -readonly [K in keyof DecodeInput["options"]]: DecodeInput["options"][K] } = { ...options };
  delete rest.suppression;
  return rest;
}

/** Finds the candidates above the threshold, before suppression. */
export class CandidateFinder {
  #decoder: Decoder;

  private constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  /** Returns null if the network suppresses by itself. */
  static async open(input: DecodeInput): Promise<CandidateFinder | null> {
    const options = withoutMethod(input.options);
    try {
      const more = { ...withoutSuppression(options), maxDetections: MOST_CANDIDATES };
      return new CandidateFinder(await openDecoder({ ...input, options }, more));
    } catch {
      return null;
    }
  }

  /** Returns all candidates, best first, each with the detection that suppressed it. */
  find(input: DecodeInput, found: Detections, thresholds: Thresholds, acrossClasses: boolean): Candidate[] {
    this.#decoder.update({ confidenceThreshold: thresholds.confidenceThreshold });
    const all = this.#decoder.decode(input.tensors as never, input.frame);
    const kept = found.toArray();
    const bySource = new Map(kept.map((d, i) => [`${found.sources[i]}/${d.class_id}`, i]));
    return all.toArray().map((c, i) => {
      const source = all.sources[i];
      const own = bySource.get(`${source}/${c.class_id}`);
      const { detection, iou } =
        own === undefined ? suppressor(c, kept, acrossClasses) : { detection: own, iou: 1 };
      const isKept = own !== undefined;
      return {
        ...c,
        source,
        isKept,
        iou,
        detection: isKept || iou > 0.8 * thresholds.iouThreshold ? detection : -1,
      };
    });
  }
}

type Box = ReturnType<Detections["toArray"]>[number];

/** Returns the detection that overlaps a candidate most, among those with at least its confidence. */
function suppressor(
  candidate: Box,
  kept: readonly Box[],
  acrossClasses: boolean,
): { detection: number; iou: number } {
  let best = { detection: -1, iou: 0 };
  kept.forEach((d, i) => {
    if (d.confidence < candidate.confidence || (!acrossClasses && d.class_id !== candidate.class_id)) return;
    const iou = overlap(candidate, d);
    if (iou > best.iou) best = { detection: i, iou };
  });
  return best;
}

function overlap(a: Box, b: Box): number {
  if (a.corners && b.corners) return turnedOverlap(a, b);
  const width = Math.min(a.x_max, b.x_max) - Math.max(a.x_min, b.x_min);
  const height = Math.min(a.y_max, b.y_max) - Math.max(a.y_min, b.y_min);
  if (width <= 0 || height <= 0) return 0;
  const area = ({ x_min, y_min, x_max, y_max }: Box): number => (x_max - x_min) * (y_max - y_min);
  return (width * height) / (area(a) + area(b) - width * height);
}

/** Returns the IoU of two oriented boxes whose corners are relative to the picture. */
function turnedOverlap(a: Box, b: Box): number {
  const boxOf = ({ corners }: Box): [number, number, number, number, number] => {
    const [p, q, r] = corners as readonly { x: number; y: number }[];
    const angle = Math.atan2(q.y - p.y, q.x - p.x);
    return [
      (p.x + r.x) / 2,
      (p.y + r.y) / 2,
      Math.hypot(q.x - p.x, q.y - p.y),
      Math.hypot(r.x - q.x, r.y - q.y),
      angle,
    ];
  };
  return orientedIou(boxOf(a), boxOf(b), "polygon");
}

/** Makes a network's heat map; null if the network suppresses by itself, or has no cells. */
export async function makeHeatMap(input: DecodeInput): Promise<HeatMap | null> {
  try {
    const options = withoutMethod(input.options);
    const probe = await openDecoder(input);
    probe.decode(input.tensors as never, input.frame);
    const { json } = probe.describe();
    if (json.kind !== "plan") return null;
    const cells = json.heads.reduce((sum, head) => sum + head.cells, 0);
    const more = { confidenceThreshold: 1e-4, maxDetections: Math.min(cells, MOST_CELLS) };
    const decoder = await openDecoder({ ...input, options }, { ...withoutSuppression(options), ...more });
    const { length, boxes, scores, sources } = decoder.decode(input.tensors as never, input.frame);
    return {
      heads: json.heads.map(({ firstSource, cells, origin }) => ({
        first: firstSource,
        cells,
        names: origin.tensors.map(({ name }) => name),
      })),
      boxes: boxes.slice(0, 4 * length),
      scores: scores.slice(0, length),
      sources: sources.slice(0, length),
    };
  } catch {
    return null;
  }
}
