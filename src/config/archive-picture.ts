/** Finds the reader of the picture that an NN Archive states. Configs without an archive do not load the reader. */
import type { PartialRule } from "../core/prepare-rule.ts";
import type { ArchivePicture } from "./archive-input.ts";

/** The reader of the picture, by the list of inputs in the config of an archive. */
export const ARCHIVE_PICTURES = /* @__PURE__ */ new WeakMap<
  readonly unknown[],
  (prepare: PartialRule) => ArchivePicture
>();
