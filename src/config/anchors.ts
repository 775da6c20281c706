/** Reads the option `anchors` in every form in which model files and config files write anchors. */
import { TRAITS } from "../core/families.ts";
import { FieldReader, inPairs } from "./fields.ts";
import { readMasks } from "./masks.ts";
import type { AnchorSet, Config } from "./types.ts";

/** Flattens a list of [w,h] pairs. Splits flat lists per map into pairs. Returns other values unchanged. */
function evenForm(anchors: unknown): unknown {
  const isPairs = (list: unknown): list is number[] =>
    Array.isArray(list) &&
    list.length > 0 &&
    list.length % 2 === 0 &&
    list.every((x) => typeof x === "number");
  if (!Array.isArray(anchors) || !anchors.every(isPairs)) return anchors;
  if (anchors.every((list) => list.length === 2)) return anchors.flat();
  return anchors.map(inPairs);
}

/** Returns anchor sets without the name or width of a map: only their order states the map, the largest map first. */
const inOrder = (sets: readonly AnchorSet["anchors"][]): AnchorSet[] =>
  sets.map((anchors) => ({ side: null, output: null, anchors }));

/**
 * Reads anchors: [output][anchor][w,h], or a flat list. Masks distribute a flat list over the maps; without masks, each
 * map gets an equal part.
 */
export function readAnchors(given: FieldReader, config: Config): AnchorSet[] | null {
  const { strides } = config;
  const r = new FieldReader(
    { ...given.json, anchors: evenForm(given.json.anchors) },
    given.path,
    given.problems,
  );
  const list = r.array("anchors");
  if (!list) {
    if (r.has("anchorMasks")) r.reportMissing("anchors", "the anchors that anchorMasks point at");
    return null;
  }
  const sets = Array.isArray(list[0]) ? nested(r, list) : flat(r, config);
  if (sets && strides?.length && sets.length > 0 && sets.length !== strides.length)
    r.report("anchors", `anchors for ${sets.length} maps`, `${strides.length}, one set for each of strides`);
  return sets;
}

function nested(r: FieldReader, list: readonly unknown[]): AnchorSet[] | null {
  const groups = r.nestedPairs("anchors", list);
  if (r.has("anchorMasks"))
    r.report("anchorMasks", "masks for anchors that stand by output already", "one or the other");
  return groups && inOrder(groups);
}

function flat(r: FieldReader, { strides, family, inputSize }: Config): AnchorSet[] | null {
  const anchors = r.pairs("anchors");
  if (r.has("anchorMasks")) return masked(r, anchors, inputSize);
  if (!anchors || anchors.length === 0) return anchors && [];
  // There are as many maps as strides. Without strides, assume three anchors per map, as in most networks.
  const isOneMap = family !== null && TRAITS[family].oneMap;
  const maps = strides?.length || (!isOneMap && anchors.length % 3 === 0 ? anchors.length / 3 : 1);
  const each = anchors.length / maps;
  if (!Number.isInteger(each)) {
    r.report("anchors", `${anchors.length} anchors for ${maps} maps`, "as many for each, or anchorMasks");
    return null;
  }
  return inOrder(Array.from({ length: maps }, (_, i) => anchors.slice(i * each, (i + 1) * each)));
}

/** Reads masks for a flat list: one per map, largest first, or an object by map width or output name. */
function masked(
  r: FieldReader,
  anchors: readonly (readonly [number, number])[] | null,
  inputSize: Config["inputSize"],
): AnchorSet[] {
  const masks = r.json.anchorMasks;
  const named: [string | null, unknown][] = Array.isArray(masks)
    ? Array.from(masks, (mask): [null, unknown] => [null, mask])
    : Object.entries(r.object("anchorMasks").json);
  if (named.length === 0 && anchors?.length)
    r.report("anchorMasks", `no masks for ${anchors.length} anchors`, "one per output");
  return readMasks(r, "anchorMasks", named, anchors, inputSize, true);
}
