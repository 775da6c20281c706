/** Adds 1 to scores of TensorRT's EfficientNMS: FP16 engines write score - 1 (NVIDIA/TensorRT 1758, 2903). */
import { fractionToHalf, numbersOf } from "../core/number.ts";
import { ELEMENTS, type SlotArray, type TensorInput } from "../core/tensor.ts";
import type { Plan } from "../plan/plan.ts";
import type { Inputs } from "./inputs.ts";

/** Spacing of f16 near 1. A score closer to 0 than this may be a rounded 0, so it proves nothing. */
const ROUNDING = 2 ** -10;

export class MissingOne {
  /**
   * True after a list with scores clearly below 0, which proves that the network outputs score - 1. From then on, 1 is
   * added to the scores of every frame, even if they look right.
   */
  #isMissing = false;
  /** True after a list with scores above 0. Negative scores in later frames are then errors. */
  #isWhole = false;

  /** Adds 1 to the scores in `inputs.given` if they are too small by 1. Returns a note on the first such frame. */
  addTo({ heads: [{ score, count, cells }], batch }: Plan, inputs: Inputs): string | null {
    if (count === null) return null;
    const { tensors, given } = inputs;
    const spec = tensors[score.tensor];
    const scores = given[score.tensor] as TensorInput;
    const counts = numbersOf(tensors[count.tensor], (given[count.tensor] as TensorInput).data);
    const values = numbersOf(spec, scores.data);
    let [below, above] = [0, 0];
    for (let image = 0; image < batch; image++)
      for (let row = 0; row < Math.min(counts[image] ?? 0, cells); row++) {
        const x = values[image * cells + row];
        if (x < -ROUNDING && x >= -1) below++;
        else if (!(x <= 0 && x >= -ROUNDING)) above++;
      }
    if (above > 0 && !this.#isMissing) this.#isWhole = true;
    // Leave all other scores unchanged: `checkListRange` refuses wrong ones.
    if (above > 0 || this.#isWhole || (below === 0 && !this.#isMissing)) return null;
    const isFirst = !this.#isMissing;
    this.#isMissing = true;
    const raised = new (ELEMENTS[spec.type].array as unknown as new (n: number) => SlotArray)(values.length);
    for (let i = 0; i < raised.length; i++) {
      const x = Math.min(Math.max(values[i] + 1, 0), 1);
      raised[i] = spec.type === "f16" ? fractionToHalf(x) : x;
    }
    given[score.tensor] = { ...scores, data: raised };
    return isFirst
      ? `the scores of ${spec.name} lie in -1..0, as FP16 engines of TensorRT's EfficientNMS write them: 1 is added`
      : null;
  }
}
