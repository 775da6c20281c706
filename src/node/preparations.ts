/** Common preparations of a photo that are worth trying. Each changes one part of the prepare rule. */
import type { PartialRule } from "../core/prepare-rule.ts";

/** A change of the prepare rule, with its description for people. */
export interface Preparation {
  readonly about: string;
  readonly rule: PartialRule;
}

/** Mean and standard deviation of ImageNet's pixels, for channels in the order red, green, blue. */
const IMAGENET = { mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375] } as const;

/** Returns the preparations to try: the given rule, and common changes. Does not change the scale of byte inputs. */
export function preparationsOf({
  order = "RGB",
  resize = "letterbox",
  type = "f32",
  ...rule
}: PartialRule): Preparation[] {
  const isFloat = type === "f32" || type === "f16";
  const { mean = 0, std = rule.factor === undefined ? 255 : 1 / rule.factor } = rule;
  const has = (m: number | readonly number[], s: number | readonly number[]): boolean =>
    JSON.stringify([mean, std]) === JSON.stringify([m, s]);
  const scales = [
    { about: "values 0..1", rule: { mean: 0, std: 255 } },
    { about: "values 0..255", rule: { mean: 0, std: 1 } },
    { about: "mean and deviation of ImageNet", rule: IMAGENET },
  ].filter(({ rule: { mean: m, std: s } }) => isFloat && !has(m, s));
  const otherOrder = order === "RGB" ? "BGR" : "RGB";
  const otherResize = resize === "stretch" ? "letterbox" : "stretch";
  return [
    { about: "prepared as its file and family say", rule: {} },
    ...(order === "GRAY"
      ? []
      : [{ about: `channels in the order ${otherOrder}`, rule: { order: otherOrder } } as const]),
    ...scales,
    { about: `resize: ${otherResize}`, rule: { resize: otherResize } },
  ];
}
