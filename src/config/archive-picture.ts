/** What reads the picture that an NN Archive states. The reader comes with the archive's: other configs need none. */
import type { PartialRule } from "../core/prepare-rule.ts";
import type { ArchivePicture } from "./archive-input.ts";

/** The reader of each archive's inputs that a config holds. */
export const ARCHIVE_PICTURES = /* @__PURE__ */ new WeakMap<
  readonly unknown[],
  (prepare: PartialRule) => ArchivePicture
>();
