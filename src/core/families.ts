/**
 * The families of detection networks. Each family is one row of `TRAITS`: the form of its tensors, the computation of
 * its boxes, the names that mean the family, and its title. Code outside of `families/` reads these rows instead of
 * comparing family names. `families/` has one file per kind of network.
 *
 * To add a family that needs no new arithmetic, add a name to `Family` (family.ts) and a row to a file in `families/`.
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

/** Every name that the option `family` accepts. */
export const FAMILIES = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.keys(TRAITS) as readonly Family[],
);

/** Returns the families that a refusal may suggest, the likeliest first. */
export const suggestedFamilies = (): Family[] =>
  FAMILIES.filter((family) => TRAITS[family].suggested).sort(
    (a, b) => (TRAITS[a].suggested ?? 0) - (TRAITS[b].suggested ?? 0),
  );

/** Returns the family that represents all families with the same shapes. */
export const representativeOf = (family: Family): Family => TRAITS[family].like ?? family;

/** Returns the title of a family for people. */
export const titleOf = (family: Family): string => TRAITS[family].title ?? family;
