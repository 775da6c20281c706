/** Reads anchor masks: which of the anchor pairs belong to which feature map. */
import type { AnchorSet } from "./types.ts";
import { type FieldReader, isWhole } from "./fields.ts";

/** The anchors to which masks refer. `null` if the anchors are wrong, which is already reported. */
type Anchors = readonly (readonly [number, number])[] | null;

type InputSize = readonly [number, number] | null;

/**
 * Reads one anchor set per mask. Names of masks are `sideN` or output names. Masks without names are in the order of
 * the maps, the largest first.
 */
export function readMasks(
  r: FieldReader,
  key: string,
  masks: readonly (readonly [name: string | null, mask: unknown])[],
  anchors: Anchors,
  inputSize: InputSize,
  outputNames = false,
): AnchorSet[] {
  const sets: AnchorSet[] = [];
  masks.forEach(([name, value], i) => {
    const at = name === null ? `${key}[${i}]` : `${key}.${name}`;
    const match = /^side0*(\d{1,5})$/.exec(name ?? "");
    const side = match && Number(match[1]);
    if (side === 0 || (name !== null && !match && !outputNames))
      return r.report(at, `the name "${name}"`, `"sideN" with N the width of the output layer`);
    if (side !== null) checkSide(r, at, side, sets, inputSize);
    const list = readMask(r, at, value, anchors);
    if (list) sets.push({ side, output: side === null ? name : null, anchors: list });
  });
  // The order of keys in a JSON object means nothing, so sort by size, the largest map first.
  return sets.sort((a, b) => (b.side ?? 0) - (a.side ?? 0));
}

/** Strides that maps may have, and the strides of the map widths that an error suggests. */
const STRIDES = [4, 8, 16, 32, 64, 128];
const USUAL_STRIDES = [8, 16, 32, 64];

/** Reports a map width that occurs twice, or that no map has for this input size. */
function checkSide(
  r: FieldReader,
  at: string,
  side: number,
  sets: readonly AnchorSet[],
  inputSize: InputSize,
): void {
  if (sets.some((set) => set.side === side)) r.report(at, `side ${side} twice`, "each width once");
  if (inputSize === null) return;
  const sideAt = (stride: number): number => Math.ceil(inputSize[0] / stride);
  if (!STRIDES.some((stride) => sideAt(stride) === side))
    r.report(
      at,
      `an output layer ${side} wide`,
      `one of ${USUAL_STRIDES.map(sideAt).join(", ")} for an input ${inputSize[0]} wide: no output has this side`,
    );
}

function readMask(r: FieldReader, at: string, value: unknown, anchors: Anchors): AnchorSet["anchors"] | null {
  const mask = r.element(at, value, "anchor numbers");
  if (!mask) return null;
  if (mask.length === 0) r.report(at, "no anchors", "at least one");
  else if (new Set(mask).size < mask.length) r.reportValue(at, "each anchor once", mask);
  return mask.flatMap((index, k) => {
    if (isWhole(index) && (!anchors || index < anchors.length)) return anchors ? [anchors[index]] : [];
    const range = anchors
      ? `0..${anchors.length - 1}, as there are ${anchors.length} anchors`
      : "an anchor's number";
    r.reportValue(`${at}[${k}]`, range, index);
    return [];
  });
}
