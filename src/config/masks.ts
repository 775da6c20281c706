/** Anchor masks: which of the anchor pairs belong to which output layer. */
import type { AnchorSet } from "./types.ts";
import { type FieldReader, isWhole } from "./fields.ts";

/**
 * One anchor set per mask. A mask is named `sideN`, N the width of its output layer, or has no name (then the masks
 * stand from the largest map to the smallest); with `outputNames` it may also be named as its output.
 * `anchors` is `null` where they are wrong, and told of already.
 * Masks of different outputs may share anchors: 0,1,2 and 1,2,3 both exist for the same network.
 */
export function readMasks(
  r: FieldReader,
  key: string,
  masks: readonly (readonly [name: string | null, mask: unknown])[],
  anchors: readonly (readonly [number, number])[] | null,
  inputSize: readonly [number, number] | null,
  outputNames = false,
): AnchorSet[] {
  const sets: AnchorSet[] = [];
  const sideAt = (stride: number): number => Math.ceil((inputSize as [number, number])[0] / stride);
  masks.forEach(([name, value], i) => {
    const at = name === null ? `${key}[${i}]` : `${key}.${name}`;
    const found = /^side0*(\d{1,5})$/.exec(name ?? "");
    const side = found && Number(found[1]);
    if (side === 0 || (name !== null && !found && !outputNames))
      return r.say(at, `the name "${name}"`, `"sideN" with N the width of the output layer`);
    if (side !== null) {
      if (sets.some((s) => s.side === side)) r.say(at, `side ${side} twice`, "each width once");
      if (inputSize && ![4, 8, 16, 32, 64, 128].some((s) => sideAt(s) === side))
        r.say(
          at,
          `an output layer ${side} wide`,
          `one of ${[8, 16, 32, 64].map(sideAt).join(", ")} for an input ${inputSize[0]} wide: no output has this side`,
        );
    }
    const mask = r.element(at, value, "anchor numbers");
    if (!mask) return;
    if (mask.length === 0) r.say(at, "no anchors", "at least one");
    else if (new Set(mask).size < mask.length) r.wrong(at, "each anchor once", mask);
    const list: (readonly [number, number])[] = [];
    mask.forEach((index, k) => {
      if (!isWhole(index) || (anchors && (index as number) >= anchors.length))
        r.wrong(
          `${at}[${k}]`,
          anchors ? `0..${anchors.length - 1}, as there are ${anchors.length} anchors` : "an anchor's number",
          index,
        );
      else if (anchors) list.push(anchors[index as number]);
    });
    sets.push({ side, output: side === null ? name : null, anchors: list });
  });
  // order in the JSON means nothing: largest map first, as everywhere
  return sets.sort((a, b) => (b.side ?? 0) - (a.side ?? 0));
}
