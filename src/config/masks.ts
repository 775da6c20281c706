/** Anchor masks: which of the anchor pairs belong to which output layer. */
import type { AnchorSet } from "../config.ts";
import type { Reader } from "./reader.ts";

/**
 * One anchor set per mask. A mask is named `sideN`, N the width of its output layer, or has no name (then the masks
 * stand from the largest map to the smallest); with `outputNames` it may also be named as its output.
 * Masks of different outputs may share anchors: 0,1,2 and 1,2,3 both exist for the same network.
 */
export function readMasks(
  r: Reader,
  path: string,
  masks: readonly (readonly [name: string | null, mask: unknown])[],
  anchors: readonly (readonly [number, number])[],
  inputSize: readonly [number, number] | null,
  outputNames = false,
): AnchorSet[] {
  const sets: AnchorSet[] = [];
  masks.forEach(([name, value], i) => {
    const at = name === null ? `${path}[${i}]` : `${path}.${name}`;
    const found = name === null ? null : /^side0*(\d{1,5})$/.exec(name);
    const side = found === null ? null : Number(found[1]);
    if (side === 0 || (name !== null && found === null && !outputNames)) {
      r.say(at, `got the name "${name}", expected "sideN" with N the width of the output layer`);
      return;
    }
    if (side !== null) {
      if (sets.some((s) => s.side === side)) r.say(at, `got side ${side} twice, expected each width once`);
      if (inputSize !== null && ![4, 8, 16, 32, 64, 128].some((s) => Math.ceil(inputSize[0] / s) === side))
        r.say(
          at,
          `got an output layer ${side} wide, expected one of ${[8, 16, 32, 64].map((s) => Math.ceil(inputSize[0] / s)).join(", ")} for an input ${inputSize[0]} wide: no output has this side`,
        );
    }
    const mask = r.array(at, value);
    if (mask === null) {
      if (value === undefined || value === null) r.wrong(at, value, "an array of anchor numbers");
      return;
    }
    if (mask.length === 0) r.say(at, "got no anchors, expected at least one");
    else if (new Set(mask).size < mask.length) r.wrong(at, mask, "each anchor once");
    const list: (readonly [number, number])[] = [];
    mask.forEach((index, k) => {
      const pair = Number.isInteger(index) ? anchors[index as number] : undefined;
      if (pair === undefined)
        r.wrong(`${at}[${k}]`, index, `0..${anchors.length - 1}, as there are ${anchors.length} anchors`);
      else list.push(pair);
    });
    sets.push({ side, output: side === null ? name : null, anchors: list });
  });
  // order in the JSON means nothing: largest map first, as everywhere
  return sets.sort((a, b) => (b.side ?? 0) - (a.side ?? 0));
}
