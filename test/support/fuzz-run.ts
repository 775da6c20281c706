/** Runs random cases on an engine, and makes failing ones small enough to read. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "../../spec/decode.ts";
import type { EngineName } from "../../src/core/engine-name.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Detections } from "../../src/decode/detections.ts";
import { writeSafetensors } from "../../src/node/files/safetensors.ts";
import type { NamedTensor } from "../../src/node/files/tensor.ts";
import { type Answer, type Possible, compare, possibleAnswers } from "./compare.ts";
import { type FuzzCase, type Limits, type Outputs, type Step, makeCase } from "./fuzz-case.ts";
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
export function* allowedBy(c: FuzzCase): Generator<Possible> {
  const { plan, thresholds: own } = askedOf(c.config, {}, c.steps[0].outputs);
  let thresholds = own;
  for (const { update, outputs } of c.steps) {
    thresholds = { ...thresholds, ...update };
    yield possibleAnswers({ plan, thresholds }, elementsOf(outputs));
  }
}

/**
 * Runs a case on engines, up to the first answer that is wrong. An unexpected error is a complaint. `allowed` may hold
 * what `allowedBy` yields, if a case runs more than once.
 */
export function runCase(
  c: FuzzCase,
  engines: readonly EngineName[],
  make: MakeDecoder = makeDecoder,
  allowed: Iterable<Possible> = allowedBy(c),
): Run {
  const decoders = engines.map((engine) => make(c.config, engine));
  const run = { detections: 0, refusedFrames: 0 };
  let frame = -1;
  for (const possible of allowed) {
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

type Fails = (c: FuzzCase) => boolean;

/** Returns an object without one of its fields. */
const without = <T extends object>(object: T, name: string): T =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name)) as T;

/** Returns the frame that fails as a case of its own, with the thresholds that hold there. */
function lastFrameAlone(c: FuzzCase, frame: number): FuzzCase {
  const updates = c.steps.slice(0, frame + 1).map((s) => s.update ?? {});
  const step = without(c.steps[frame], "update");
  return {
    ...c,
    way: "arrays",
    config: Object.assign({}, c.config, ...updates) as object as never,
    steps: [step],
  };
}

/** Returns the case with fewer frames and fewer changes between them, as long as it fails. */
function fewerSteps(c: FuzzCase, fails: Fails): FuzzCase {
  let smallest = c;
  const attempt = (steps: FuzzCase["steps"]): boolean => {
    const next = { ...smallest, steps };
    if (!fails(next)) return false;
    smallest = next;
    return true;
  };
  // The first frame stays: its checks refuse wild values. A change before a frame that goes then comes before the next.
  for (let i = smallest.steps.length - 1; i > 0; i--) {
    const merged = smallest.steps.map((step, k) =>
      k === i + 1 ? { ...step, update: { ...smallest.steps[i].update, ...step.update } } : step,
    );
    attempt(merged.filter((_, k) => k !== i));
  }
  for (const [i, step] of smallest.steps.entries())
    for (const name of ["frames", ...Object.keys(step.update ?? {})]) {
      const own = smallest.steps[i];
      const less =
        name === "frames" ? without(own, name) : { ...own, update: without(own.update ?? {}, name) };
      attempt(smallest.steps.map((other, k) => (k === i ? less : other)));
    }
  return smallest;
}

/** Returns the case with fewer options, as long as it fails. */
function fewerOptions(c: FuzzCase, fails: Fails): FuzzCase {
  let smallest = c;
  const attempt = (next: FuzzCase): void => {
    if (fails(next)) smallest = next;
  };
  const rules = c.config["rules"] as Record<string, unknown>;
  for (const name of Object.keys(rules)) {
    const others = without(smallest.config["rules"] as Record<string, unknown>, name);
    attempt({ ...smallest, config: { ...smallest.config, rules: others } });
  }
  for (const name of ["keep", "scaleXY"]) {
    attempt({ ...smallest, config: without(smallest.config, name) });
  }
  return smallest;
}

/** Returns the case with as many elements as possible set to 0, block by block, as long as it fails. */
function fewerElements(c: FuzzCase, fails: Fails, tries: number): FuzzCase {
  let smallest = c;
  let left = tries;
  for (const name of Object.keys(c.steps[0].outputs)) {
    const { length } = c.steps[0].outputs[name].data;
    for (let size = length; size >= 1 && left > 0; size = Math.floor(size / 2))
      for (let at = 0; at < length && left > 0; at += size) {
        const [step] = smallest.steps;
        const tensor = step.outputs[name];
        const data = (tensor.data as Float32Array).slice();
        const nothing = Math.round((tensor.zeroPoint ?? 0) as number);
        if (data.subarray(at, at + size).every((x) => x === nothing)) continue;
        data.fill(nothing, at, at + size);
        const next = {
          ...smallest,
          steps: [{ ...step, outputs: { ...step.outputs, [name]: { ...tensor, data } } }],
        };
        left--;
        if (fails(next)) smallest = next;
      }
  }
  return smallest;
}

const SMALLER: readonly Limits[] = [
  { cells: 1, classes: 1, batch: 1 },
  { cells: 4, classes: 2, batch: 1 },
  { cells: 16, classes: 4, batch: 1 },
  { cells: 64, classes: 33, batch: 1 },
];

/**
 * Returns a small case that fails as the one of a seed does: fewer cells and classes, one frame, few options, most
 * elements 0.
 */
export function shrink(
  seed: number,
  engine: EngineName,
  make: MakeDecoder = makeDecoder,
): { case: FuzzCase; run: Run } {
  const run = (c: FuzzCase): Run => runCase(c, [engine], make);
  const fails: Fails = (c) => {
    try {
      return run(c).complaints.length > 0;
    } catch {
      // Options or shapes that are refused are no smaller case.
      return false;
    }
  };
  const whole = [...SMALLER.map((limits) => makeCase(seed, limits)), makeCase(seed)];
  const smallest = whole.find((c) => c !== null && fails(c)) as FuzzCase;
  const alone = lastFrameAlone(smallest, run(smallest).frame);
  // A fault that depends on earlier frames is not in one frame.
  const few = fewerOptions(fewerSteps(fails(alone) ? alone : smallest, fails), fails);
  const small = few.steps.length > 1 ? few : fewerElements(few, fails, 400);
  return { case: small, run: run(small) };
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
