/**
 * Judges mutants in one process: cases and right answers are made once. A parent sends mutants; the answer is why one is
 * wrong, or null. The parent ends this process if a mutant hangs it.
 *
 * A mutated decoder is judged by the specification. A mutated kernel is judged by its twin: the whole memory after each
 * phase.
 */
import { readFileSync, writeSync } from "node:fs";
import * as A from "../../src/core/abi.ts";
import type { createDecoderSync } from "../../src/whole/decoder.ts";
import { canGather, gatherRows } from "../../src/memory/gather.ts";
import { slotsOf } from "../../src/memory/write.ts";
import { makeCase } from "../../test/support/fuzz-case.ts";
import { allowedBy, runCase } from "../../test/support/fuzz-run.ts";
import { type MemoryImage, imageOf } from "../../test/support/memory-image.ts";
import { cases, partsOf } from "../../test/support/parity-cases.ts";
import { kinds } from "../../test/support/seeded-networks.ts";

type Verb = "scan" | "sort" | "nms";
const VERBS: readonly Verb[] = ["scan", "sort", "nms"];

/** Runs a bundle with a mutated decoder, whose file URL the parent sends. */
type JudgeDecoder = (address: string) => Promise<string | null>;
type JudgeKernel = (file: string) => string | null;

/** Tells the parent that a case begins. Writes synchronously: a mutant that hangs would block `process.send`. */
const beat = (): number => writeSync(3, ".");

// ---- By the specification --------------------------------------------------------------------------------

const SMALL = { cells: 64, classes: 5, batch: 2 };

function decoderJudge(count: number): JudgeDecoder {
  const made = Array.from({ length: count }, (_, i) => {
    // Small cases are fast. Large ones span several vectors, passes of the sort and blocks of the scan.
    const c = makeCase(i, i % 8 === 0 ? undefined : SMALL);
    return c === null ? null : { c, allowed: [...allowedBy(c)] };
  }).filter((x) => x !== null);
  return async (address) => {
    const bundle = (await import(address)) as { createDecoderSync: typeof createDecoderSync };
    for (const { c, allowed } of made) {
      const make = (config: object): ReturnType<typeof createDecoderSync> =>
        bundle.createDecoderSync(config as never, { engine: "ts" });
      beat();
      try {
        const { complaints } = runCase(c, ["ts"], make, allowed);
        if (complaints.length > 0) return `${c.name}: ${complaints[0]}`;
      } catch (e) {
        return `${c.name}: ${String(e)}`;
      }
    }
    return null;
  };
}

// ---- By the twin -----------------------------------------------------------------------------------------

/** A memory before its phases, and what each phase of each block must leave. */
interface Expected {
  readonly name: string;
  readonly before: Uint8Array;
  readonly phases: readonly { block: number; verb: Verb; count: number; settled: readonly Uint8Array[] }[];
  readonly image: MemoryImage;
}

/** Returns where the bytes lie that engines agree on after a phase: see memory-image.ts. */
function settledParts(
  { layout }: MemoryImage,
  i32: Int32Array,
  sortedBy: number,
): readonly [number, number][] {
  const sorted = sortedBy === 0 ? 0 : i32[(sortedBy >> 2) + A.P_SORTED];
  return [
    [0, layout.order + sorted * 4],
    [layout.workEnd, layout.bytes],
  ];
}

function expectedOf(name: string, image: MemoryImage, blocks: readonly number[]): Expected {
  const { engine, layout } = image;
  const bytes = new Uint8Array(engine.memory.buffer, 0, layout.bytes);
  const before = bytes.slice();
  const phases = blocks.flatMap((block) =>
    VERBS.map((verb) => {
      const count = engine[verb](block);
      const parts = settledParts(image, engine.memory.i32, verb === "scan" ? 0 : block);
      return { block, verb, count, settled: parts.map(([from, to]) => bytes.slice(from, to)) };
    }),
  );
  return { name, before, phases, image };
}

/** Returns the memories of a case: of whole tensors, and of gathered rows if the plan gathers. */
function memoriesOf(c: ReturnType<typeof cases>[number]): Expected[] {
  const { plan, thresholds, affine, data } = partsOf(c);
  const image = imageOf("ts", plan, thresholds, affine, data);
  const name = JSON.stringify(c);
  const whole = expectedOf(name, image, image.layout.imageBlocks);
  const given = plan.tensors.map((t) => ({ data: data.get(t.name) }));
  const arrays = { given, slots: slotsOf(image) };
  if (plan.gather === null || !canGather(image, arrays) || !gatherRows(image, arrays)) return [whole];
  return [whole, expectedOf(`${name}, gathered`, image, [image.layout.gatherBlock])];
}

function kernelJudge(perKind: number): JudgeKernel {
  const made = Object.keys(kinds).flatMap((kind, k) => {
    const all = cases(kind, 100 + k).filter(({ size }) => size.w * size.h * size.classes < 6000);
    // Evenly over the grids, the types and the classes.
    return Array.from({ length: perKind }, (_, i) => all[Math.floor(((i + 0.5) * all.length) / perKind)]);
  });
  // Neighbouring cases are of different kinds.
  const order = made.map((c, i) => ({ c, at: i % perKind })).sort((a, b) => a.at - b.at);
  const memories = order.flatMap(({ c }) => memoriesOf(c));
  const most = Math.max(...memories.map(({ before }) => before.length));
  const memory = new WebAssembly.Memory({ initial: Math.ceil(most / 65536) });
  const bytes = new Uint8Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  return (file) => {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)), {
      env: { memory },
    });
    const verbs = instance.exports as unknown as Record<Verb, (block: number) => number>;
    for (const { name, before, phases, image } of memories) {
      beat();
      bytes.set(before);
      for (const { block, verb, count, settled } of phases)
        try {
          const got = verbs[verb](block);
          if (got !== count) return `${name}: ${verb} returns ${got}, not ${count}`;
          const parts = settledParts(image, i32, verb === "scan" ? 0 : block);
          for (const [k, [from, to]] of parts.entries())
            if (Buffer.compare(bytes.subarray(from, to), settled[k]) !== 0)
              return `${name}: memory differs after ${verb}`;
        } catch (e) {
          return `${name}: ${verb}: ${String(e)}`;
        }
    }
    return null;
  };
}

const [what, count] = process.argv.slice(2);
const judge = what === "kernel" ? kernelJudge(Number(count)) : decoderJudge(Number(count));
process.on("message", (mutant: string) => {
  void Promise.resolve(judge(mutant)).then(
    (reason) => process.send?.({ reason }),
    (e: unknown) => process.send?.({ reason: String(e) }),
  );
});
process.send?.({ ready: true });
