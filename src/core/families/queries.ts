/** Families of networks with queries: DETR and similar networks. */
import type { Family, FamilyTraits } from "../family.ts";

const QUERY_EXPORTS = ["query-columns", "query-rows", "postprocess"] as const;

const PILLOW = { resize: "stretch", resample: "pillow" } as const;

/** Returns the traits of a network that is related to RT-DETR. An export may contain the post-processor or not. */
const kinOfRtdetr = (title: string, word: RegExp, more: Partial<FamilyTraits>): FamilyTraits => ({
  head: "plain",
  exports: QUERY_EXPORTS,
  raw: "logits",
  select: "pairs",
  everyColumn: true,
  coordinates: "normalised",
  finishedIn: "photo",
  rowMasks: "queries",
  finishedFormat: "xyxy",
  title,
  word,
  ...more,
});

export const QUERY_FAMILIES = {
  // RF-DETR and LW-DETR. Keep this row before "detr", because that word occurs in their names.
  rfdetr: {
    head: "plain",
    exports: ["query-columns"],
    raw: "logits",
    select: "pairs",
    outputNames: { boxes: "dets", scores: "labels" },
    coordinates: "normalised",
    rowMasks: "queries",
    title: "RF-DETR, LW-DETR",
    word: /(rf|lw)[-_]?detr/,
    prepare: {
      resize: "stretch",
      mean: [123.675, 116.28, 103.53],
      std: [58.395, 57.12, 57.375],
    },
  },
  // RT-DETR 1 to 4, D-FINE and DEIM share one post-processor. Their authors resize by Pillow and subtract no mean.
  rtdetr: /* @__PURE__ */ kinOfRtdetr("RT-DETR", /rt[-_]?detr/, { prepare: PILLOW }),
  dfine: /* @__PURE__ */ kinOfRtdetr("D-FINE", /(^|[^a-z])d[-_]?fine/, { like: "rtdetr", prepare: PILLOW }),
  // Keep this row before "deim", because that word occurs in the name. The mean depends on the model's size, so no
  // preparation is stated.
  deimv2: /* @__PURE__ */ kinOfRtdetr("DEIMv2", /(^|[^a-z])deim[-_]?v?2/, { like: "rtdetr" }),
  deim: /* @__PURE__ */ kinOfRtdetr("DEIM", /(^|[^a-z])deim/, { like: "rtdetr", prepare: PILLOW }),
  detr: {
    head: "plain",
    exports: ["queries", "query-rows"],
    raw: "logits",
    select: "pairs",
    lookalike: { family: "rfdetr", ours: /logits/i },
    background: "last",
    coordinates: "normalised",
    rowMasks: "queries",
    title: "DETR",
    word: /detr/,
    typedOnly: true,
    prepare: {
      resize: "stretch",
      resample: "pillow",
      mean: [123.675, 116.28, 103.53],
      std: [58.395, 57.12, 57.375],
    },
  },
} as const satisfies { readonly [F in Family]?: FamilyTraits };
