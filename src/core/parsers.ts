/** Kinds of networks that config files name. archive-parsers.ts has the parsers of NN Archives. */
import { TRAITS } from "./families.ts";
import type { Family } from "./family.ts";

/** Kind of network that a config file names. */
export type NetworkKind = "yolo" | "ssd";

/** Facts about a kind of network that a file names, before the family is known. */
export interface KindTraits {
  /** `NN_family` of an NN_config, in small letters. */
  readonly nnFamily: string;
  /** Parsers of an NN Archive, in small letters. */
  readonly parsers: readonly string[];
  /** The family, if the kind has only one. */
  readonly family: Family | null;
  /** True: the file lists anchors and states the class count. */
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
