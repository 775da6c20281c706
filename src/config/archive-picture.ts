/** Links an archive's inputs to the reader of its picture. Configs of other formats need not load that reader. */
import type { PartialRule } from "../core/prepare-rule.ts";
import type { ArchivePicture } from "./archive-input.ts";

/** Maps an archive's list of inputs to the reader of its picture. */
export const ARCHIVE_PICTURES = /* @__PURE__ */ new WeakMap<
  readonly unknown[],
  (prepare: PartialRule) => ArchivePicture
>();
