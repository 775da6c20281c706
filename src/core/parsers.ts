/** Kinds of networks as config files name them. Parsers of an NN Archive: archive-parsers.ts. */
import { TRAITS } from "./families.ts";
import type { Family } from "./family.ts";

/** Names that config files have for a network. */
export type NetworkKind = "yolo" | "ssd";

/** Facts about a kind of network that a file names, before its family is settled. */
export interface KindTraits {
  /** `NN_family` of an NN_config, in small letters. */
  readonly nnFamily: string;
  /** Parsers of an NN Archive, in small letters. */
  readonly parsers: readonly string[];
  /** The family, where the kind has only one. */
  readonly family: Family | null;
  /** The file lists anchors and says how many classes there are. */
  readonly anchors: boolean;
}

export const KINDS: { readonly [K in NetworkKind]: KindTraits } = {
  yolo: { nnFamily: "yolo", parsers: ["yolo", "yoloextendedparser"], family: null, anchors: true },
  ssd: { nnFamily: "mobilenet", parsers: ["ssd", "mobilenet"], family: "ssd", anchors: false },
};

/** Every kind of network. */
export const KIND_NAMES = /* @__PURE__ */ Object.keys(KINDS) as readonly NetworkKind[];

/** True if the kind or the family has a score column for the background. */
export function hasBackground(kind: NetworkKind | null, family: Family | null): boolean {
  return [family, kind && KINDS[kind].family].some(
    (known) => known !== null && TRAITS[known].background !== undefined,
  );
}
