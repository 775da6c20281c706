/** Finds a config's preparation: `prepare` overrides the file, and the file overrides what is usual for the family. */
import type { Config } from "../../config/types.ts";
import { ARCHIVE_PICTURES } from "../../config/archive-picture.ts";
import type { ArchivePicture } from "../../config/archive-input.ts";
import type { ModelInput } from "../../config/model/types.ts";
import { preparationOf } from "../../config/model/input.ts";
import { ConfigError } from "../../core/errors.ts";
import { TRAITS } from "../../core/families.ts";
import type { PartialRule } from "../../core/prepare-rule.ts";
import { familyOf } from "../../heads/query.ts";

/**
 * Returns how a picture must be prepared for the network of a config.
 * @throws ConfigError if the file states a preparation that is impossible, and the option `prepare` does not replace it
 */
export function ruleOf(config: Config): PartialRule {
  const { inputSize, outputs, headOutputs, prepare, picture } = config;
  const ours = (outputs ?? []).filter(({ name }) => headOutputs?.includes(name) ?? true);
  const readPicture = ARCHIVE_PICTURES.get(picture as readonly unknown[]);
  const file = readPicture
    ? archiveRule(readPicture(prepare ?? {}))
    : picture
      ? preparationOf(picture as ModelInput)
      : {};
  const stated = merge(file, prepare ?? {});
  // Bytes without a scale are the pixels themselves.
  const isRaw = stated.type === "u8" && stated.scale === undefined;
  const usual = merge(TRAITS[familyOf(config, ours).family].prepare ?? {}, isRaw ? { mean: 0, std: 1 } : {});
  return frozen({ ...(inputSize && { size: inputSize }), ...merge(usual, stated) });
}

/** Returns a frozen copy. `prepareImage` recognises a frozen rule by identity, without comparing fields. */
const frozen = (rule: PartialRule): PartialRule =>
  Object.freeze(
    Object.fromEntries(
      Object.entries(rule).map(([name, value]: [string, unknown]) => [
        name,
        Array.isArray(value) ? Object.freeze([...(value as unknown[])]) : value,
      ]),
    ),
  );

/** Overrides the fields of one source by those of another. `std` and `factor` replace each other. */
function merge(below: PartialRule, over: PartialRule): PartialRule {
  const merged = { ...below, ...over };
  if (over.factor !== undefined) delete (merged as { std?: unknown }).std;
  if (over.std !== undefined) delete (merged as { factor?: unknown }).factor;
  return merged;
}

/** Returns the preparation in an NN Archive. Throws a ConfigError about fields that cannot be followed. */
function archiveRule({ rule, problems }: ArchivePicture): PartialRule {
  if (problems.length > 0) throw new ConfigError(problems);
  return rule;
}

/** Describes a rule in words. */
export function ruleText(rule: PartialRule): string {
  const { size, resize = "letterbox", pad = 114, margin = 0, resample = "bilinear" } = rule;
  const { order = "RGB", mean = 0, std = 255, factor, type = "f32", layout = "NCHW" } = rule;
  const { scale, zeroPoint = 0 } = rule;
  const padded = resize.startsWith("letterbox")
    ? `${margin > 0 ? ` less ${margin} pixels` : ""}, pad ${list(pad)}`
    : "";
  const by = factor === undefined ? `/ ${list(std)}` : `* ${factor}`;
  const quantised = scale === undefined ? "" : ` / ${scale} + ${zeroPoint}`;
  return (
    `${resize} to ${size?.join("x") ?? "a size not given"}${padded}, ${resample}; ` +
    `${order}, (x - ${list(mean)}) ${by}${quantised}; ${type} ${layout}`
  );
}

const list = (values: number | readonly number[]): string =>
  typeof values === "number" ? String(values) : `[${values.join(", ")}]`;
