import type { ConformanceCase } from "./load.mjs";

/** One case as `cases.mjs` states it: tensors are files. */
export type StatedCase = Omit<ConformanceCase, "tensors" | "plan"> & {
  readonly tensors: readonly (Omit<ConformanceCase["tensors"][number], "base64"> & {
    readonly file: string;
  })[];
};

export function conformanceCases(): StatedCase[];
