/** Reads the output of a classifier: one score per class for the whole picture. */
import { volume } from "../core/tensor.ts";
import { buildInterpretation, softmax } from "./build.ts";
import type { Interpretation, Specs } from "./head.ts";
import type { HeadQuery } from "./query.ts";
import { mayPlay } from "./match.ts";

/** Prior box that covers the whole picture. */
const WHOLE = /* @__PURE__ */ Float32Array.of(0.5, 0.5, 1, 1);

/** Reads [N,C] and [N,C,1,1] as one cell with C scores. Its box is the whole picture, since all variances are 0. */
export function classScores(query: HeadQuery, specs: Specs): Interpretation[] {
  return specs.flatMap(({ name, dims }, index) => {
    if (dims.length === 0 || !mayPlay(query, "scores", name)) return [];
    // Treat [C] as the scores of one picture.
    const batch = dims.length === 1 ? 1 : dims[0];
    const classes = volume(dims) / batch;
    const isOneLong = dims.slice(dims.length === 1 ? 0 : 1).filter((d) => d !== 1).length <= 1;
    if (!isOneLong || classes < 2 || (query.classes !== null && classes !== query.classes)) return [];
    const column = { tensor: index, offset: 0, channel: 1, cell: classes };
    return buildInterpretation(query, {
      name: "class-scores",
      title: "scores of the whole picture",
      usual: query.traits.raw,
      fields: (_, logits) => ({
        classes,
        ...softmax(logits && query.traits.softmax, 0, classes),
        kind: "prior",
        whFn: "exp",
        boxChannels: [0, 0, 0, 0],
        unit: [1, 1],
        priors: WHOLE,
        variances: [0, 0, 0, 0],
      }),
      matches: [
        {
          tensors: [{ index, name, dims, layout: "rows", parts: ["scores"] }],
          anchor: null,
          rows: null,
          view: { batch, cells: 1, channel: 1, cell: classes, layout: "rows", w: 0, h: 0 },
          box: column,
          score: column,
          objectness: null,
        },
      ],
      classes,
    });
  });
}
