/** Links an archive's inputs to the reader of its picture. Configs of other formats then never load that reader. */
import type { PartialRule } from "../core/prepare-rule.ts";
import type { ArchivePicture } from "./archive-input.ts";

/** The reader of the picture for each list of inputs that an archive's config holds. */
export const ARCHIVE_PICTURES = /* @__PURE__ */ new WeakMap<
  readonly unknown[],
  (prepare: PartialRule) => ArchivePicture
>();
