/** Reads the keypoints of RF-DETR: each query has points for each class. */
import type { TensorSpec } from "../../core/tensor.ts";
import { cellsOf } from "../../shapes/grids.ts";
import { interpret } from "../../heads/interpret.ts";
import type { HeadQuery } from "../../heads/query.ts";
import type { Form, Formed } from "./form.ts";
import { POINT_CHANNELS } from "./plan.ts";

/** Reads [N,Q,S x K,8]: K points for each query and each of S classes. Classes with fewer points are padded. */
export const queryPoints: Form = {
  read: (query, specs, [count, values]) => {
    if (values !== 3) return [];
    const { keypoints, ...others } = query.roles ?? {};
    const boxes: HeadQuery = { ...query, roles: Object.keys(others).length > 0 ? others : null };
    const named = [keypoints ?? []].flat();
    const isNamed = specs.some(({ name }) => named.includes(name));
    const mayHold = ({ name, dims }: TensorSpec): boolean =>
      dims.length === 4 && dims[3] === POINT_CHANNELS && (!isNamed || named.includes(name));
    return specs.flatMap((spec, tensor): Formed[] => {
      if (!mayHold(spec)) return [];
      const [batch, queries, slots] = spec.dims;
      const beside = interpret(
        boxes,
        specs.map((other, k) => (k === tensor ? { ...other, dims: [] } : other)),
      );
      return beside.flatMap((interpretation): Formed[] => {
        const [{ score, classes, classBase }] = interpretation.heads;
        // Index of the first score column that is a class: column 0 may be the background.
        const first = score.offset / score.channel;
        const isWhole = slots === (first + classes) * count;
        if (interpretation.batch !== batch || cellsOf(interpretation.heads) !== queries || !isWhole)
          return [];
        const extra = { tensor, offset: 0, channel: 1, cell: slots * POINT_CHANNELS };
        return [
          {
            interpretation: {
              ...interpretation,
              uses: [...interpretation.uses, tensor],
              heads: interpretation.heads.map((head) => ({ ...head, extra })),
            },
            shape: [count, 3],
            rule: "decoded",
            logits: true,
            slots: { firstClass: classBase - first },
          },
        ];
      });
    });
  },
  expected: (_, [count, values]) =>
    values === 3
      ? `boxes [N,Q,4], scores and keypoints [N,Q,S x ${count},${POINT_CHANNELS}], ${count} points for ` +
        "each of S classes (background: 0 where the first column of scores is no class, as in older files)"
      : `keypoints: [${count}, 3], since each has a confidence`,
};
