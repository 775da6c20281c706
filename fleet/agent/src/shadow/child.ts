/**
 * The process of a shadow: decodes each frame that it receives with both versions, and answers with a comparison. If
 * this process crashes, hangs or uses too much memory, the agent ends it and continues.
 */
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { type Decoder, createDecoderSync, fromPacket, readModel } from "boxwright";
import { messageOf } from "boxwright-service/errors";
import { Network } from "../network/network.ts";
import { decoderOptions } from "../network/plan.ts";
import { compareFound, disagreementOf, type Found } from "./compare.ts";
import type { FromShadow, ShadowOffer, ShadowStart, ShadowVersion, ToShadow } from "./message.ts";

/**
 * Decodes a frame with the version in the shadow. Returns the boxes, the milliseconds before decoding, and the
 * milliseconds of decoding.
 */
type Run = (offer: ShadowOffer) => Promise<{ found: readonly Found[]; before: number; decode: number }>;

/** Nice value of the process, so that the agent's own frames are processed first. */
const NICE = 10;

class Shadow {
  readonly #old: Decoder;
  readonly #run: Run;

  private constructor(old: Decoder, run: Run) {
    this.#old = old;
    this.#run = run;
  }

  static async open({
    old,
    next,
    record,
    settings,
  }: ShadowStart): Promise<{ shadow: Shadow; needs: "outputs" | "image" }> {
    const used = JSON.parse(record) as { readonly config: object; readonly options: object };
    const decoder = createDecoderSync(used.config, used.options);
    if (await isSameTensors(old, next)) {
      const { inputSize, prepare } = decoder.config;
      const stated = { ...(inputSize && { inputSize }), ...(prepare && { prepare }) };
      const other = createDecoderSync(await knownOf(next), { ...decoderOptions(next.options), ...stated });
      return { shadow: new Shadow(decoder, runOver(other)), needs: "outputs" };
    }
    const network = new Network({ ...settings, options: {}, outputFormat: "detection" });
    const { config, options, model } = next;
    const choice = { modelId: model.sha256, modelName: "the new model", read: () => readFile(model.path), options };
    await network.choose({ ...choice, config: config ?? undefined });
    return { shadow: new Shadow(decoder, runAlone(network)), needs: "image" };
  }

  async compare(offer: ShadowOffer): Promise<FromShadow> {
    const start = performance.now();
    const old: readonly Found[] = this.#old.decode(offer.outputs, offer.frame).toJSON();
    const oldDecode = performance.now() - start;
    const next = await this.#run(offer);
    const compared = compareFound(old, next.found);
    const { onlyOld, onlyNew, changes } = compared;
    const sum = (found: readonly Found[]): number => found.reduce((total, { confidence }) => total + confidence, 0);
    return {
      kind: "compared",
      frame: {
        ...{ matched: compared.matched, changed: compared.changed },
        ...{ onlyOld: onlyOld.length, onlyNew: onlyNew.length },
        confidence: { old: sum(old), new: sum(next.found) },
        decode: { old: oldDecode, new: next.decode },
        frame: { old: offer.before + oldDecode, new: next.before + next.decode },
        memory: process.memoryUsage.rss(),
      },
      difference: { count: disagreementOf(compared), onlyOld, onlyNew, changes },
      took: performance.now() - start,
    };
  }
}

/** Returns what states how to decode a version: its config, or else its model file. */
async function knownOf({ config, model }: ShadowVersion): Promise<object> {
  return config ?? (await readModel(await readFile(model.path)));
}

/** True if both versions give the network the same tensors, so that both can use the outputs of one run. */
async function isSameTensors(old: ShadowVersion, next: ShadowVersion): Promise<boolean> {
  if (old.model.sha256 !== next.model.sha256) return false;
  const inputOf = async (version: ShadowVersion): Promise<string> => {
    const { inputSize, prepare } = createDecoderSync(await knownOf(version), decoderOptions(version.options)).config;
    return JSON.stringify([inputSize, prepare]);
  };
  return (await inputOf(old)) === (await inputOf(next));
}

const runOver =
  (decoder: Decoder): Run =>
  ({ outputs, frame, before }) => {
    const start = performance.now();
    const found = decoder.decode(outputs, frame).toJSON();
    return Promise.resolve({ found, before, decode: performance.now() - start });
  };

const runAlone =
  (network: Network): Run =>
  async ({ image }) => {
    const processed = await network.process(image!, { id: "shadow", source: "shadow" });
    const packet = await network.decoded(processed!);
    if (packet === null) throw new Error("nothing says how to decode this version");
    const { prepare, run, pack } = processed!.times;
    return { found: fromPacket(packet).detections ?? [], before: prepare + run, decode: pack };
  };

/** Lowers this process's priority, for the processor and, if the system allows, for memory. */
function standBack(): void {
  for (const step of [() => setPriority(NICE), () => writeFileSync("/proc/self/oom_score_adj", "1000")])
    try {
      step();
    } catch {
      // Ignore the error: the system lacks this setting, or refuses it.
    }
}

let shadow: Shadow | null = null;
const answer = (message: FromShadow): void => void process.send!(message);

async function take(message: ToShadow): Promise<FromShadow> {
  if (message.kind === "frame") return shadow!.compare(message);
  const opened = await Shadow.open(message);
  shadow = opened.shadow;
  return { kind: "ready", needs: opened.needs };
}

standBack();
process.on("disconnect", () => process.exit());
process.on("message", (message: ToShadow) => {
  take(message).then(answer, (error: unknown) => answer({ kind: "failed", message: messageOf(error) }));
});
