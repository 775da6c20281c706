/** Makes the sentence about the preparation of pictures on each family's page. */
import type { PartialRule } from "../src/core/prepare-rule.ts";

const list = (value: number | readonly number[]): string => [value].flat().join(", ");

/** Describes how a picture is prepared, including the defaults of `PrepareRule`. */
export function preparation(rule: PartialRule): string {
  const { resize = "letterbox", resample = "bilinear", pad = 114, layout = "NCHW", order = "RGB" } = rule;
  const { mean = 0, std = 255, margin } = rule;
  const smaller = margin === undefined ? "" : ` less ${margin} pixels`;
  const padded = resize.startsWith("letterbox") ? `${smaller}, padded with ${list(pad)}` : "";
  const values = `mean ${list(mean)}, std ${list(std)} of channels in 0..255`;
  return `\`${resize}\`${padded}; resampled \`${resample}\`; ${layout}, ${order}; ${values}.`;
}
