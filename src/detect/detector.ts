/** `createDetector` opens a network and returns a detector. session-detector.ts runs the network. */
import { DETECTOR_OPTIONS } from "../config/options.ts";
import { fetchConfig } from "../config/read.ts";
import { refuseValue, refuseConfig } from "../core/errors.ts";
import { namesFor, nearestName } from "../core/names.ts";
import { FLAG, type Rule, checkValue } from "../core/options.ts";
import { show } from "../core/tensor.ts";
import { isDevelopment, warnInDevelopment } from "../core/warn.ts";
import { noteOfMissingNames } from "../decode/missing-names.ts";
import { fetchFinishedRows } from "../decode/finished-rows.ts";
import { decoderOf } from "../decode/tensor-decoder.ts";
import { ChainedDetector, checkPoints } from "./chain.ts";
import { blankImage, checkPreparation, inInputPixels, inputSpecOf, inputsOf, withInput } from "./input.ts";
import { outputReader } from "./outputs.ts";
import { FrameLane, SessionDetector } from "./session-detector.ts";
import type { Session } from "./session.ts";
import {
  FIRST_NAMES,
  type DetectorOptions,
  type DetectorSource,
  type PointsSource,
  readSource,
} from "./source.ts";
import type { Detector } from "./types.ts";
import { prepareEngine } from "../engine/choose.ts";
import { fetchParts } from "../whole/fetch.ts";

/**
 * Makes a detector from a network file and an installed runtime.
 * @param source the network, the adapter of its runtime, and a config if the file does not state enough
 * @param options options that override the config
 * @throws ConfigError with the missing options, if file, config and options do not say how to prepare images or decode
 * outputs. Also if config or options contradict the network's input size
 * @throws RangeError for a wrong `warmUp` or `most`
 * @throws TensorError if the network's outputs do not fit the config. The runtime's own errors pass through
 * @example
 * import { createDetector } from "boxwright";
 *
 * // A network that finds one thing in the middle of whatever it is given. Adapters make such a session of a runtime.
 * const input = new Float32Array(3 * 32 * 32);
 * const output0 = { data: Float32Array.of(16, 16, 8, 8, 0.9), dims: [1, 1, 5] };
 * const session = {
 *   inputs: [{ name: "images", dims: [1, 3, 32, 32], type: "float32" }],
 *   overlaps: true,
 *   createLane: () => ({ input: () => input, run: async () => ({ output0 }), release() {}, close() {} }),
 *   close() {},
 * };
 * const config = { family: "yolov8", labels: ["thing"], inputSize: [32, 32] };
 * const detector = await createDetector({ session, config });
 * const [found] = await detector.detect({ data: new Uint8Array(64 * 32 * 4), width: 64, height: 32 });
 * console.log(found.label, found.x, found.y, found.width, found.height); // thing 0.375 0.25 0.25 0.5
 */
export async function createDetector<Opened = never, Second = never>(
  source: DetectorSource<Opened> & { readonly points?: PointsSource<Second> },
  options: DetectorOptions = {},
): Promise<Detector> {
  checkDetectorNames(options ?? {});
  const { most = Infinity, ...rest } = options ?? {};
  const { points } = (source as typeof source | null) ?? {};
  if (options?.most !== undefined && !(Number.isInteger(most) && most > 0 && points))
    refuseValue("options.most", show(most), "a positive whole number, beside a network of points");
  // Let both detectors reuse their results, since the chained detector copies them.
  const detector = await openDetector<Opened>(
    source,
    points === undefined ? rest : { ...rest, reuse: true },
    false,
  );
  if (points === undefined) return detector;
  try {
    const second = await openDetector<Second>(points, { ...points?.options, reuse: true }, true);
    try {
      checkPoints(second.decoder);
    } catch (error) {
      await second.close();
      throw error;
    }
    return new ChainedDetector(detector, second, most);
  } catch (error) {
    await detector.close();
    throw error;
  }
}

function checkDetectorNames(options: object): void {
  for (const name of Object.keys(options)) {
    if (FIRST_NAMES.includes(name))
      refuseConfig(`options.${name}`, "it among the options", "it in the first argument of createDetector");
    if (!DETECTOR_OPTIONS.includes(name) && nearestName(name, DETECTOR_OPTIONS) !== undefined)
      refuseConfig(`options.${name}`, "an unknown name", namesFor(name, DETECTOR_OPTIONS));
  }
}

const WARM_UP: Rule<number> = [
  "a whole number of runs from 0 to 1000",
  (x) => Number.isInteger(x) && (x as number) >= 0 && (x as number) <= 1000,
];

async function openDetector<Opened>(
  source: DetectorSource<Opened>,
  options: DetectorOptions,
  isPoints: boolean,
): Promise<SessionDetector> {
  const { warmUp, reuse, ...decoderOptions } = options ?? {};
  checkValue("options.warmUp", warmUp ?? 1, WARM_UP);
  checkValue("options.reuse", reuse ?? false, FLAG);
  const { open, config: unread, file } = await readSource(source, isPoints);
  let session: Session | null = "session" in source ? source.session : null;
  const lanes: FrameLane[] = [];
  try {
    // Read the config before the runtime starts, which may take seconds.
    const config = await fetchConfig(unread, decoderOptions);
    session ??= await open();
    const { input, others } = inputsOf(session);
    const given = withInput(config, input, file);
    const known = others.length > 0 ? inInputPixels(given) : given;
    const [parts, rows] = await Promise.all([
      fetchParts(config),
      fetchFinishedRows(known),
      prepareEngine(decoderOptions.engine ?? "auto"),
    ]);
    const decoder = decoderOf(known, decoderOptions, parts, rows);
    checkPreparation(decoder);
    const spec = inputSpecOf(input, others, decoder);
    const { overlaps } = session;
    for (let i = 0; i < (overlaps ? 2 : 1); i++)
      lanes.push(new FrameLane(session.createLane(spec), decoder, outputReader(file)));
    // With `fresh`, the decoder already returns a new result each time, so the detector need not copy it.
    const detector = new SessionDetector(session, decoder, lanes, (reuse ?? decoderOptions.fresh) === true);
    for (let i = 0; i < (warmUp ?? 1); i++) await detector.warmUp(blankImage(decoder));
    const { onNote = warnInDevelopment } = decoderOptions;
    const isHeard = onNote !== warnInDevelopment || isDevelopment();
    const note = isHeard ? noteOfMissingNames(decoder) : null;
    if (note !== null) onNote(note);
    return detector;
  } catch (error) {
    for (const lane of lanes) lane.close();
    await session?.close();
    throw error;
  }
}
