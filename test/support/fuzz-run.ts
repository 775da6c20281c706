/** Runs random cases on an engine, and looks for a small one that fails. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "../../spec/decode.ts";
import type { EngineName } from "../../src/core/engine-name.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Detections } from "../../src/decode/detections.ts";
import { writeSafetensors } from "../../src/node/files/safetensors.ts";
import type { NamedTensor } from "../../src/node/files/tensor.ts";
import { type Answer, type Possible, compare, possibleAnswers } from "./compare.ts";
import { type FuzzCase, type Limits, NO_LIMITS, type Outputs, type Step, makeCase } from "./fuzz-case.ts";
import { askedOf, elementsOf, rowsOf } from "./specification.ts";

/** How a case went. */
export interface Run {
  /** What is wrong, in words; empty if nothing is. */
  readonly complaints: readonly string[];
  /** The engine, and the index of the frame, that the complaints are about. */
  readonly engine: EngineName;
  readonly frame: number;
  readonly detections: number;
  readonly refusedFrames: number;
}

type Decoder = ReturnType<typeof createDecoderSync>;

/** Makes the decoder of a case. A test of this file makes one with a fault. */
export type MakeDecoder = (config: FuzzCase["config"], engine: EngineName) => Decoder;

const makeDecoder: MakeDecoder = (config, engine) => createDecoderSync(config, { engine });

/** Returns what a decoder makes of a frame. Errors other than that of a probability above 1 go on. */
function answerOf(decoder: Decoder, way: FuzzCase["way"], step: Step, isFirst: boolean): Answer {
  let images: readonly Detections[] | null = null;
  try {
    if (way === "arrays" || isFirst) images = decoder.decodeBatch(step.outputs, step.frames);
    else {
      for (const [name, { data }] of Object.entries(step.outputs))
        decoder.slots[name].data.set(data as ArrayLike<number>);
      images = decoder.decodeBatch(undefined, step.frames);
    }
  } catch (e) {
    if (!(e as Error).message.includes("expected probabilities in 0..1")) throw e;
  }
  const { candidates, dropped } = decoder.stats;
  return { images, candidates, dropped };
}

/**
 * True for what a decoder throws at the boxes of its first candidates. The specification has no such check; a first
 * frame whose candidates are all dropped leaves it to a later one.
 */
const isCheck = ({ name, message }: Error): boolean =>
  name === "TensorError" && /got (box coordinates up to|boxes within|\d+ of \d+ boxes)/.test(message);

/** Yields what the specification allows for each frame of a case. */
function* allowedBy(c: FuzzCase): Generator<Possible> {
  const { plan, thresholds: own } = askedOf(c.config, {}, c.steps[0].outputs);
  let thresholds = own;
  for (const { update, outputs } of c.steps) {
    thresholds = { ...thresholds, ...update };
    yield possibleAnswers({ plan, thresholds }, elementsOf(outputs));
  }
}

/** Runs a case on engines, up to the first answer that is wrong. An unexpected error is a complaint. */
export function runCase(c: FuzzCase, engines: readonly EngineName[], make: MakeDecoder = makeDecoder): Run {
  const decoders = engines.map((engine) => make(c.config, engine));
  const run = { detections: 0, refusedFrames: 0 };
  let frame = -1;
  for (const possible of allowedBy(c)) {
    const { update, frames } = c.steps[++frame];
    for (const decoder of decoders) {
      const wrong = (complaints: string[]): Run => ({ ...run, complaints, engine: decoder.engine, frame });
      try {
        if (update) decoder.update(update);
        const answer = answerOf(decoder, c.way, c.steps[frame], frame === 0);
        const complaints = compare(possible, frames, answer);
        if (complaints.length > 0) return wrong(complaints);
        run.detections += (answer.images ?? []).reduce((n, { length }) => n + length, 0);
        if (answer.images === null) run.refusedFrames++;
      } catch (e) {
        if (!isCheck(e as Error)) return wrong([(e as Error).stack ?? String(e)]);
        run.refusedFrames++;
      }
    }
  }
  return { ...run, complaints: [], engine: engines[0], frame: c.steps.length };
}

// ---- Smaller cases ---------------------------------------------------------------------------------------

/** Returns the frame that fails as a case of its own, with the thresholds that hold there. */
function lastFrameAlone(c: FuzzCase, frame: number): FuzzCase {
  const updates = c.steps.slice(0, frame + 1).map((s) => s.update ?? {});
  const steps = [{ ...c.steps[frame], update: undefined }];
  return { ...c, way: "arrays", config: Object.assign({}, c.config, ...updates) as never, steps };
}

const SMALLER: readonly Limits[] = [
  { cells: 1, classes: 1, batch: 1 },
  { cells: 4, classes: 2, batch: 1 },
  { cells: 16, classes: 4, batch: 1 },
  { cells: 64, classes: 33, batch: 1 },
];

/**
 * Returns a small case that fails as the one of a seed does: of few cells and classes, and of the failing frame alone
 * unless the fault depends on earlier ones.
 */
export function shrink(
  seed: number,
  engine: EngineName,
  make: MakeDecoder = makeDecoder,
): { case: FuzzCase; run: Run } {
  const failureOf = (c: FuzzCase | null): { case: FuzzCase; run: Run } | null => {
    try {
      const run = c && runCase(c, [engine], make);
      return run && run.complaints.length > 0 ? { case: c as FuzzCase, run } : null;
    } catch {
      // Options or shapes that are refused are no smaller case.
      return null;
    }
  };
  for (const limits of [...SMALLER, NO_LIMITS]) {
    const found = failureOf(makeCase(seed, limits));
    if (found) return failureOf(lastFrameAlone(found.case, found.run.frame)) ?? found;
  }
  throw new Error(`case ${seed} does not fail on ${engine}`);
}

// ---- Files -------------------------------------------------------------------------------------------------

/** Returns a tensor as files hold it. */
function named(name: string, { data, dims, type, scale, zeroPoint, order }: Outputs[string]): NamedTensor {
  return {
    name,
    data: data as NamedTensor["data"],
    dims: [...dims],
    type: type as NamedTensor["type"],
    ...(scale !== undefined && { scale: scale as number }),
    ...(zeroPoint !== undefined && { zeroPoint: zeroPoint as number }),
    ...(order !== undefined && { order }),
  };
}

/**
 * Writes a case as files, and returns the words after `boxwright` that decode its last frame. The files of a case of
 * several frames are numbered, and `updates.json` says what changes before each.
 */
export function writeCase(folder: string, c: FuzzCase, engine: EngineName): string[] {
  const place = (name: string): string => join(folder, name);
  mkdirSync(folder, { recursive: true });
  // Typed arrays become lists.
  const plain = (_: string, x: unknown): unknown =>
    ArrayBuffer.isView(x) ? Array.from(x as Float32Array) : x;
  const write = (name: string, x: unknown): void => writeFileSync(place(name), JSON.stringify(x, plain, 2));
  write("config.json", c.config);
  const number = (i: number): string => (c.steps.length > 1 ? `-${i}` : "");
  const { plan, thresholds: own } = askedOf(c.config, {}, c.steps[0].outputs);
  let thresholds = own;
  c.steps.forEach(({ outputs, frames, update }, i) => {
    thresholds = { ...thresholds, ...update };
    const tensors = Object.entries(outputs).map(([name, t]) => named(name, t));
    writeFileSync(place(`tensors${number(i)}.safetensors`), writeSafetensors(tensors));
    const right = decode(plan, elementsOf(outputs), thresholds, frames);
    write(`expected${number(i)}.json`, right.map(rowsOf));
  });
  if (c.steps.length > 1)
    write(
      "updates.json",
      c.steps.map(({ update, frames }) => ({ update, frames })),
    );
  const last = c.steps.length - 1;
  const frame = [c.steps[last].frames ?? []].flat()[0];
  const resize = frame ? ["--image-size", `${frame.width}x${frame.height}`, "--resize", frame.resize] : [];
  const tensors = place(`tensors${number(last)}.safetensors`);
  return ["decode", place("config.json"), tensors, "--engine", engine, "--json", ...resize];
}
