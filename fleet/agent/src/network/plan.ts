/** Makes the plan of a config: how pictures are prepared, the decoder, and whether device or host decodes. */
import {
  type Decoder,
  type Detector,
  type DetectorOptions,
  type LabelSet,
  type Lane,
  type Model,
  createDecoderSync,
  createDetector,
  labelsOf,
  readModel,
} from "boxwright";
import type { SharedRuntime } from "./session.ts";

/** The config in the form in which a host needs it to create the same decoder. */
export interface ConfigRecord {
  readonly hash: string;
  /** JSON of the record: `{config, options}`. */
  readonly json: string;
}

/** One config, ready for pictures. */
export interface NetworkPlan {
  /** The decoder, which also provides the config hash of packets. Made from `{}` if nothing states how to decode. */
  readonly decoder: Decoder;
  /** Prepares pictures. */
  readonly detector: Detector;
  readonly lane: Lane;
  /** True if the device decodes; false if it sends tensors. */
  readonly decodes: boolean;
  /** Config for a host. Null if nothing on the device states how to decode: the host then needs its own config. */
  readonly record: ConfigRecord | null;
  /** Scales of integer outputs by output name, as the model file states them. */
  readonly scales: ReadonlyMap<string, { readonly scale: number; readonly zeroPoint: number }>;
}

/** Arguments of `makePlan`. */
export interface PlanParts {
  readonly model: Uint8Array;
  readonly runtime: SharedRuntime;
  /** Parsed config file; undefined if there is none. */
  readonly config: unknown;
  /** Options of `createDetector`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The part that decodes if the config does not say: the device ("detection") or the host ("raw"). */
  readonly outputFormat: "detection" | "raw";
  /** Called with each note of the decoder about a likely mistake in config or pictures. */
  readonly onNote: (note: string) => void;
}

/**
 * Makes the plan of a config. Runs the network once on an empty picture.
 * @throws ConfigError that lists every problem; TensorError if the network's outputs do not fit
 */
export async function makePlan(parts: PlanParts): Promise<NetworkPlan> {
  const { model, runtime, config, options, outputFormat, onNote } = parts;
  // Continue if readModel fails, since the runtime opens more formats.
  const file = await readModel(model).catch(() => null);
  const known = config ?? file ?? undefined;
  if (!statesFamily(config, known, options)) {
    if (outputFormat === "detection")
      throw new RangeError(
        'network.output_format: got "detection", but nothing says how to decode. Give a config (--config), or ' +
          "options.family (--family) and what the family needs (options.labels, --labels)",
      );
    const plan = await makeBlindPlan(model, runtime, config, options);
    return { ...plan, scales: scalesOf(file) };
  }
  const source = { model, runtime, ...(config !== undefined && { config }) };
  const detector = await createDetector(source, { ...options, onNote });
  const { decoder } = detector;
  return {
    decoder,
    detector,
    lane: runtime.takeLane(),
    decodes: (decoder.config.outputFormat ?? outputFormat) === "detection",
    record: recordOf(decoder, known, options),
    scales: scalesOf(file),
  };
}

/**
 * True if config, options or model file state how to decode. An unreadable model file states nothing.
 * @throws the error of an invalid config
 */
function statesFamily(config: unknown, known: unknown, options: object): boolean {
  if ("family" in options) return true;
  // Convert outside of the try, since an unknown label list is an error of the settings, not of the model file.
  const stated = decoderOptions(options);
  const decodes = (source: unknown): boolean => createDecoderSync(source as object, stated).config.decodes;
  if (config !== undefined) return decodes(config);
  try {
    return known !== undefined && decodes(known);
  } catch {
    return false;
  }
}

/** Makes the plan of a network that only its host can decode. */
async function makeBlindPlan(
  model: Uint8Array,
  runtime: SharedRuntime,
  config: unknown,
  options: Readonly<Record<string, unknown>>,
): Promise<Omit<NetworkPlan, "scales">> {
  const decoder = createDecoderSync(config ?? {});
  const size = decoder.config.inputSize;
  const isStated = typeof options.prepare === "object" && options.prepare !== null;
  // State any family: createDetector requires one, but this detector only prepares pictures.
  const stand = { ...(size && { inputSize: size }), prepare: options.prepare } as DetectorOptions;
  const detector = isStated
    ? await createDetector({ model, runtime, config: { family: "yolov8", classes: 1 } }, stand)
    : await createDetector({ model, runtime }).catch(() => null);
  if (detector) return { decoder, detector, lane: runtime.takeLane(), decodes: false, record: null };
  throw new RangeError(
    "network.options.prepare is missing: neither a config nor the model file says how this network wants its picture. " +
      'State it, for instance { "resize": "letterbox", "order": "RGB", "mean": 0, "std": 255 }, or options.family.',
  );
}

/**
 * Returns the config that a host needs to make this decoder.
 * @throws RangeError if a host would make another decoder from this config
 */
function recordOf(decoder: Decoder, config: unknown, options: Readonly<Record<string, unknown>>): ConfigRecord | null {
  const hash = decoder.configHash;
  if (hash === null) return null;
  const { inputSize, prepare } = decoder.config;
  const stated = { ...decoderOptions(options), ...(inputSize && { inputSize }), ...(prepare && { prepare }) };
  const json = JSON.stringify({ config, options: stated });
  const copy = JSON.parse(json) as { config: object; options: object };
  const other = createDecoderSync(copy.config, copy.options).configHash;
  if (other === hash) return { hash, json };
  throw new RangeError(`the config cannot be sent: a decoder of its JSON is ${other}, expected ${hash}`);
}

/**
 * Converts options of `createDetector` to options of `createDecoder`: drops `warmUp`, and replaces the name of a label
 * list by its labels.
 */
export function decoderOptions(options: object): object {
  const rest: { labels?: unknown; warmUp?: unknown } = { ...options };
  const { labels } = rest;
  delete rest.warmUp;
  delete rest.labels;
  if (labels === undefined) return rest;
  return { ...rest, labels: typeof labels === "string" ? labelsOf(labels as LabelSet) : labels };
}

function scalesOf(file: Model | null): NetworkPlan["scales"] {
  const scales = new Map<string, { readonly scale: number; readonly zeroPoint: number }>();
  for (const { name, quantisation } of file?.outputs ?? [])
    if (quantisation?.scale.length === 1)
      scales.set(name, { scale: quantisation.scale[0]!, zeroPoint: quantisation.zeroPoint[0] ?? 0 });
  return scales;
}
