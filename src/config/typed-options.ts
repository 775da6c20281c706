/** Options of `createDecoder` that go over what the config says. */
import type { Config, DecoderOptions, OutputSpec } from "./types.ts";
import { SETTING_NAMES, readSettings } from "./options.ts";
import { FieldReader, isObject, oneOf } from "./fields.ts";
import type { TensorSpecInput } from "../core/tensor.ts";

/**
 * The config with the options over it.
 * @throws ConfigError with every problem at once; its paths begin with `options`.
 */
export function withOptions(config: Config, options: DecoderOptions): Config {
  const r = new FieldReader({ options }).object("options");
  r.only(["engine", ...SETTING_NAMES, "outputs"]);
  r.take("engine", oneOf(["auto", "simd", "scalar", "ts"]));
  const settled = readSettings(r, config);
  const outputs = r.take<NonNullable<DecoderOptions["outputs"]>>("outputs", [
    "an array or a record of {dims, type}",
    (x) => typeof x === "object" && Object.values(x as object).every(isObject),
  ]);
  r.done();
  return outputs ? { ...settled, outputs: outputSpecs(outputs) } : settled;
}

function outputSpecs(outputs: NonNullable<DecoderOptions["outputs"]>): OutputSpec[] {
  const named = !Array.isArray(outputs);
  return Object.entries(outputs as { readonly [name: string]: TensorSpecInput }).map(([name, o]) => ({
    name: named ? name : (o.name ?? `output${name}`),
    dims: o.dims,
    type: o.type ?? null,
    layout: null,
    order: o.order ?? null,
    scale: o.scale,
    zeroPoint: o.zeroPoint,
  }));
}
