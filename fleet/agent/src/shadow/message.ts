/** Messages between the agent and the process of its shadow. */
import type { Frame, ImageInput, Outputs } from "boxwright";
import type { NetworkSettings } from "../settings/schema.ts";
import type { Compared, Found } from "./compare.ts";
import type { ShadowFrame } from "./summary.ts";

/** A version: its config, its options, and the file of its model. */
export interface ShadowVersion {
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly model: { readonly sha256: string; readonly path: string };
}

export interface ShadowStart {
  readonly kind: "start";
  readonly old: ShadowVersion;
  readonly next: ShadowVersion;
  /** JSON of `{config, options}` with which the version in use decodes. */
  readonly record: string;
  readonly settings: Pick<NetworkSettings, "threads" | "providers">;
}

/** A frame that the version in use has decoded. */
export interface ShadowOffer {
  readonly kind: "frame";
  readonly outputs: Outputs;
  readonly frame: Frame;
  /** Picture of the frame; null unless the version in the shadow runs its own network. */
  readonly image: ImageInput | null;
  /** Milliseconds that the version in use took before decoding: to prepare the picture and run the network. */
  readonly before: number;
}

export type ToShadow = ShadowStart | ShadowOffer;

export type FromShadow =
  /** The version in the shadow is open. It needs the outputs of the version in use, or the picture itself. */
  | { readonly kind: "ready"; readonly needs: "outputs" | "image" }
  | {
      readonly kind: "compared";
      readonly frame: ShadowFrame;
      readonly difference: ShadowDifference;
      /** Milliseconds that the shadow's process took for this frame. */
      readonly took: number;
    }
  /** The version in the shadow cannot be opened, or cannot decode a frame that the version in use can decode. */
  | { readonly kind: "failed"; readonly message: string };

/** Boxes on which the versions disagree. */
export interface ShadowDifference extends Pick<Compared, "onlyOld" | "onlyNew" | "changes"> {
  readonly count: number;
}

export type { Found };
