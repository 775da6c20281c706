/** Inspects tensors: describes the plan for a config, or lists every family that fits, each with its config. */
import { possibilitiesFor } from "./possibilities.ts";
import { type Inspected, type OpenSpec, type Possibility, configText } from "./possibility.ts";
import { readConfig } from "../config/config.ts";
import type { Config, DecoderOptions } from "../config/types.ts";
import { refuse, TensorError } from "../core/errors.ts";
import {
  type TensorData,
  type TensorSpec,
  type TensorSpecInput,
  checkNames,
  show,
  specOf,
  volume,
} from "../core/tensor.ts";
import { knownSpecs } from "../heads/query.ts";
import {
  type ConfigDescription,
  describeConfig,
  describePlan,
  type PlanDescription,
} from "../plan/describe.ts";
import { interpretConverted } from "../plan/converted.ts";
import { planOf } from "../plan/make.ts";
import { valuesIn } from "../planfile/write.ts";
import { explain } from "../plan/explain.ts";
import { ALL_TASKS } from "../whole/tasks.ts";

/** Result of `inspect`, as text and as data. */
export interface Inspection {
  readonly text: string;
  readonly json: ConfigDescription | PlanDescription | PossibilityList;
}

/** All readings that the given shapes allow. */
export interface PossibilityList {
  readonly kind: "possibilities";
  /** The tensors. Unknown dimensions are `null`. */
  readonly tensors: readonly OpenSpec[];
  /** The possible readings, the likeliest first. */
  readonly possibilities: readonly Possibility[];
  /** Kind of network that the shapes resemble. Only if no family fits. */
  readonly looksLike?: string;
}

/**
 * Inspects tensors.
 * @param config a config as for `createDecoder`, or `undefined` or `null` to list all readings of the shapes
 * @param specs tensor names, shapes and types; if empty, only the config is described
 * @param valuesOf returns known values of a tensor by name, such as prior boxes among the outputs
 * @throws ConfigError, TensorError as `createDecoder` and the first decode would
 * @example
 * import { inspect } from "boxwright/node";
 *
 * const { text } = inspect(null, [{ name: "output0", dims: [1, 84, 8400] }]);
 * console.log(text.split("\n")[0]); // output0 [1,84,8400] can be:
 */
export function inspect(
  config: unknown,
  specs: readonly TensorSpecInput[] = [],
  options: DecoderOptions = {},
  valuesOf: (name: string) => TensorData | null = () => null,
): Inspection {
  if (!Array.isArray(specs)) refuse("", `tensors ${show(specs)}`, "a list of {name, dims, type}");
  const tensors = (specs as readonly (TensorSpecInput | null)[]).map((s, i) =>
    specOf(s?.name ?? `output${i}`, s as TensorSpecInput),
  );
  checkNames(tensors);
  if (config !== undefined && config !== null)
    return inspectConfig(readConfig(config, options), tensors, valuesOf);
  if (tensors.length === 0) throw new TensorError("got neither a config nor tensors, expected one of them");
  return inspectShapes(tensors, options ?? {}, valuesOf);
}

/** Describes the plan for a config and tensors. Describes only the config if no shapes are known. */
function inspectConfig(
  config: Config,
  given: readonly TensorSpec[],
  valuesOf: (name: string) => TensorData | null,
): Inspection {
  const specs = given.length > 0 ? given : knownSpecs(config);
  if (specs === null) return describeConfig(config);
  const values = valuesIn(specs, valuesOf);
  let interpreted = interpretConverted(config, specs, ALL_TASKS, values);
  const { awaits } = interpreted;
  const notes: string[] = [];
  if (awaits !== null) {
    // Use zeros as the values of priors: a plan does not depend on the values, only on their count.
    const at = specs.findIndex(({ name }) => name === awaits.name);
    const zeros = new Float32Array(volume(awaits.dims));
    interpreted = interpretConverted(config, specs, ALL_TASKS, (i) => (i === at ? zeros : values(i)));
    notes.push(`the values of ${awaits.name} are not at hand: zeros stand for them here`);
  }
  const plan = planOf(interpreted, explain);
  return describePlan(config, { ...plan, notes: [...plan.notes, ...notes] });
}

/** Lists the likely readings of shapes. If no family fits, names the kind of network that the shapes resemble. */
export function inspectShapes(
  tensors: readonly OpenSpec[],
  options: DecoderOptions,
  valuesOf: (name: string) => TensorData | null,
  facts: Pick<Inspected, "model" | "names"> = {},
): { readonly text: string; readonly json: PossibilityList } {
  const { possibilities, looksLike } = possibilitiesFor({ tensors, options, valuesOf, ...facts });
  const bare = tensors.filter(({ scale }) => scale === null);
  const shapes = tensors.map(({ name, dims }) => `${name} [${dims.map((d) => d ?? "?").join(",")}]`);
  const lines = [
    ...(looksLike === null
      ? [`${shapes.join(", ")} can be:`, ...possibilities.map(possibilityText)]
      : [`${shapes.join(", ")}: none of ours. It looks like ${looksLike}.`]),
    ...(possibilities.length > 1
      ? ["The likeliest stands first. Values, or a name, settle which it is."]
      : []),
    ...(bare.length > 0
      ? [
          `integers: ${bare.map(({ name, type }) => `${name} (${type})`).join(", ")}: those that hold boxes ` +
            "or scores need scale and zeroPoint, where real = (raw - zeroPoint) * scale",
        ]
      : []),
  ];
  const json = { kind: "possibilities", tensors, possibilities } as const;
  return { text: lines.join("\n"), json: looksLike === null ? json : { ...json, looksLike } };
}

function possibilityText(possibility: Possibility): string {
  const { about, classes, families, unread } = possibility;
  const count = classes === null ? "" : `${classes} class${classes === 1 ? "" : "es"}, `;
  const beside = unread ? `; not read: ${unread.join(", ")}` : "";
  return `- ${about}: ${count}${families.join(", ")}${beside}\n    ${configText(possibility)}`;
}
