/** Inspects a list of tensors: with a config the plan, without one every family that fits, with the config to write. */
import { possibilities } from "./possibilities.ts";
import { type Inspected, type Possibility, configText } from "./possibility.ts";
import { readConfig } from "../config/config.ts";
import type { Config, DecoderOptions } from "../config/types.ts";
import { refuse, TensorError } from "../core/errors.ts";
import { FAMILIES } from "../core/families.ts";
import {
  type TensorData,
  type TensorSpec,
  type TensorSpecInput,
  checkNames,
  shape,
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
import { interpretConfig, planOf } from "../plan/make.ts";
import { valuesIn } from "../planfile/write.ts";
import { explain } from "../plan/explain.ts";
import { ALL_TASKS } from "../whole/tasks.ts";

/** Result of `inspect`: a text for people, and the same as plain data. */
export interface Inspection {
  readonly text: string;
  readonly json: ConfigDescription | PlanDescription | PossibilityList;
}

/** Everything that shapes alone can be. */
export interface PossibilityList {
  readonly kind: "possibilities";
  readonly tensors: readonly TensorSpec[];
  /** The likeliest first. */
  readonly possibilities: readonly Possibility[];
}

/** Scale with which bytes span 0..1. It stands in for integers that come without a scale. */
const STAND_IN = 1 / 256;

/**
 * Inspects tensors.
 * @param config a config as `createDecoder` takes it, or none (`undefined`, `null`) to see what the shapes alone can be
 * @param specs tensor names, shapes and types; empty: the config alone
 * @param valuesOf returns values at hand, by name, where boxes rest on them (prior boxes that the network gives)
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

/** Describes the plan of a config and tensors, or the config alone where no shapes are known. */
function inspectConfig(
  config: Config,
  given: readonly TensorSpec[],
  valuesOf: (name: string) => TensorData | null,
): Inspection {
  const specs = given.length > 0 ? given : knownSpecs(config);
  if (specs === null) return describeConfig(config);
  const values = valuesIn(specs, valuesOf);
  let interpreted = interpretConfig(config, specs, ALL_TASKS, values);
  const { awaits } = interpreted;
  const notes: string[] = [];
  if (awaits !== null) {
    // Only the count of priors matters for a plan.
    const at = specs.findIndex(({ name }) => name === awaits.name);
    const zeros = new Float32Array(volume(awaits.dims));
    interpreted = interpretConfig(config, specs, ALL_TASKS, (i) => (i === at ? zeros : values(i)));
    notes.push(`the values of ${awaits.name} are not at hand: zeros stand for them here`);
  }
  const plan = planOf(interpreted, explain);
  return describePlan(config, { ...plan, notes: [...plan.notes, ...notes] });
}

/** Lists every family that reads the shapes, with the config to write. */
function inspectShapes(
  tensors: readonly TensorSpec[],
  options: DecoderOptions,
  valuesOf: (name: string) => TensorData | null,
): Inspection {
  // Quantisation of boxes and scores does not change what the shapes can be.
  const readable = tensors.map((t) => (t.scale === null ? { ...t, scale: STAND_IN } : t));
  const all = possibilities({ tensors: readable, options, valuesOf } satisfies Inspected);
  const best = Math.max(...all.map(({ likelihood }) => likelihood));
  const likeliest = all.filter(({ likelihood }) => likelihood === best);
  const bare = tensors.filter(({ scale }) => scale === null);
  const lines = [
    `${tensors.map(shape).join(", ")} can be:`,
    ...likeliest.map(possibilityText),
    ...(likeliest.length === 0 ? [`no family reads this. Known: ${FAMILIES.join(", ")}`] : []),
    ...(all.length > likeliest.length
      ? [`(less likely, left out: ${all.length - likeliest.length}; a config settles it)`]
      : []),
    ...(bare.length > 0
      ? [
          `integers: ${bare.map(({ name, type }) => `${name} (${type})`).join(", ")}: those that hold boxes ` +
            "or scores need scale and zeroPoint, where real = (raw - zeroPoint) * scale",
        ]
      : []),
  ];
  return { text: lines.join("\n"), json: { kind: "possibilities", tensors, possibilities: all } };
}

function possibilityText(possibility: Possibility): string {
  const { about, classes, families } = possibility;
  const count = classes === null ? "" : `${classes} class${classes === 1 ? "" : "es"}, `;
  return `- ${about}: ${count}${families.join(", ")}\n    ${configText(possibility)}`;
}
