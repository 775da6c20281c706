/**
 * The families of detection networks. Each family is one row of `TRAITS`: what its tensors look like, how its boxes are
 * computed, which names mean it and how it is printed. No other file compares with a family's name. `families/` has the
 * rows, by the kind of network.
 *
 * A new family that needs no new arithmetic is a name in `Family` (family.ts) and a row in a file of `families/`.
 */
import { DECODED_FAMILIES } from "./families/decoded.ts";
import { MAP_FAMILIES } from "./families/maps.ts";
import { POSE_FAMILIES } from "./families/points.ts";
import { QUERY_FAMILIES } from "./families/queries.ts";
import { SSD_FAMILIES } from "./families/ssd.ts";
import type { Family, FamilyTraits } from "./family.ts";

/** The row of each family. */
export const TRAITS: { readonly [F in Family]: FamilyTraits } = {
  ...MAP_FAMILIES,
  ...QUERY_FAMILIES,
  ...SSD_FAMILIES,
  ...DECODED_FAMILIES,
  ...POSE_FAMILIES,
};

/** Every name that the option `family` takes. */
export const FAMILIES = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.keys(TRAITS) as readonly Family[],
);

/** Returns the families that a refusal suggests, the likeliest first. */
export const suggestedFamilies = (): Family[] =>
  FAMILIES.filter((family) => TRAITS[family].suggested).sort(
    (a, b) => (TRAITS[a].suggested ?? 0) - (TRAITS[b].suggested ?? 0),
  );

/** Returns the family that stands for another one where shapes alone are looked at. */
export const representativeOf = (family: Family): Family => TRAITS[family].like ?? family;

/** Returns a family's name for people. */
export const titleOf = (family: Family): string => TRAITS[family].title ?? family;
