export interface SetDetection {
  readonly class_id: number;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  readonly keypoints?: readonly (readonly number[])[];
}

export interface SetAnswer {
  readonly rules: string;
  readonly source: string;
  readonly detections: readonly SetDetection[];
}

export interface SetTensor {
  readonly name: string;
  readonly type: "f32" | "f16" | "i8" | "u8" | "i32" | "i64";
  readonly dims: readonly number[];
  readonly sha256: string;
  readonly data: ArrayBufferView;
}

export interface SetCase {
  readonly id: string;
  readonly kind: "seeded" | "recorded";
  readonly confidence: number;
  readonly iou?: number;
  readonly tolerance: number;
  readonly tensors: readonly SetTensor[];
  readonly answers: readonly SetAnswer[];
}

export interface ConformanceSet {
  readonly version: string;
  readonly cases: readonly SetCase[];
}

export interface Difference {
  readonly missing: number;
  readonly extra: number;
  readonly box: number;
  readonly score: number;
}

export type Outcome =
  | { readonly outcome: "right"; readonly rules: string }
  | ({ readonly outcome: "wrong"; readonly rules: string } & Difference)
  | { readonly outcome: "refused"; readonly message: string }
  | { readonly outcome: "not read" };

export interface SetDecoder {
  readonly rules?: readonly string[];
  decode(
    c: SetCase,
    answer: SetAnswer,
  ): readonly SetDetection[] | undefined | Promise<readonly SetDetection[] | undefined>;
}

export function loadSet(read?: (file: string) => Buffer): ConformanceSet;
export function compare(
  found: readonly SetDetection[],
  wanted: readonly SetDetection[],
  far?: number,
): Difference;
export function runSet(decoder: SetDecoder, set: ConformanceSet): Promise<{ readonly [id: string]: Outcome }>;
