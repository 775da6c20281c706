/** Plan, layout and image made as `src/decoder.ts` makes them, with the phases in hand. */
import { expect } from "vitest";
import * as A from "../../src/core/abi.ts";
import { readConfig } from "../../src/config/config.ts";
import type { EngineName } from "../../src/core/engine-name.ts";
import { makeEngine, provideTs } from "../../src/engine/choose.ts";
import { tsEngine } from "../../src/engine/ts/index.ts";
import type { Engine } from "../../src/engine/engine.ts";
import {
  writeAffine,
  writePlan,
  writeThresholds,
  type Affine,
  type MemoryImage as InMemory,
  type Thresholds,
} from "../../src/memory/write.ts";
import { layoutOf, type MemoryLayout } from "../../src/memory/layout.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { explain } from "../../src/plan/explain.ts";
import { interpretConfig, planOf as makePlan } from "../../src/plan/make.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { ELEMENTS, type SlotArray, specOf, type TensorSpecInput, volume } from "../../src/core/tensor.ts";
import type { Raw } from "./seeded-networks.ts";
import { ALL_TASKS } from "../../src/whole/tasks.ts";

provideTs(tsEngine);

export interface MemoryImage extends InMemory {
  readonly engine: Engine;
}

/** Returns the slots as arrays of their element types. */
export const slotsOf = ({ memory, plan, layout }: InMemory): SlotArray[] =>
  plan.tensors.map(
    ({ type, dims }, i) => new ELEMENTS[type].array(memory.buffer, layout.slots[i], volume(dims)),
  );

export function planOf(
  config: unknown,
  specs: readonly (TensorSpecInput & { readonly name: string })[],
  options: DecoderOptions = {},
): Plan {
  const tensors = specs.map((s) => specOf(s.name, s));
  return makePlan(interpretConfig(readConfig(config, options), tensors, ALL_TASKS), explain);
}

export function imageOf(
  name: EngineName,
  plan: Plan,
  thresholds: Thresholds,
  affine: Affine,
  data: ReadonlyMap<string, Raw>,
): MemoryImage {
  const layout = layoutOf(plan);
  const engine = makeEngine(name, layout.bytes);
  const image = { memory: engine.memory, plan, layout };
  writePlan(image);
  writeThresholds(image, thresholds);
  for (const block of layout.blocks) writeAffine(image.memory, block, affine);
  slotsOf(image).forEach((slot, i) => slot.set(data.get(plan.tensors[i].name) as Raw));
  return { ...image, engine };
}

/** The image but for what the map calls work, and of that the candidates of a plan block that are in order. */
function settled({ engine, layout }: MemoryImage, sortedBy: number): Uint8Array[] {
  const { buffer, i32 } = engine.memory;
  const bytes = new Uint8Array(buffer);
  const sorted = sortedBy === 0 ? 0 : i32[(sortedBy >> 2) + A.P_SORTED];
  return [bytes.subarray(0, layout.order + sorted * 4), bytes.subarray(layout.workEnd, layout.bytes)];
}

/** Byte for byte, also of the order that `sortedBy`, a plan block, left; says where the first difference is. */
export function expectSameImage(images: readonly MemoryImage[], phase: string, sortedBy = 0): void {
  const [first, ...rest] = images;
  const a = settled(first, sortedBy);
  for (const other of rest) {
    settled(other, sortedBy).forEach((b, k) => {
      expect(b.length).toBe(a[k].length);
      if (Buffer.compare(a[k], b) === 0) return;
      let i = 0;
      while (a[k][i] === b[i]) i++;
      const at = a[k].byteOffset + i;
      throw new Error(
        `after ${phase}: ${other.engine.name} differs from ${first.engine.name} at byte ${at} (${place(first.layout, at)}): ${b[i]}, not ${a[k][i]}`,
      );
    });
  }
}

function place(layout: MemoryLayout, at: number): string {
  const named = Object.entries(layout)
    .flatMap(([name, v]): [string, number][] =>
      typeof v === "number"
        ? [[name, v]]
        : (v as readonly unknown[]).flatMap((x, i): [string, number][] =>
            typeof x === "number"
              ? [[`${name}[${i}]`, x]]
              : Object.entries(x as Record<string, number>).map(([n, y]): [string, number] => [
                  `${name}[${i}].${n}`,
                  y,
                ]),
          ),
    )
    .filter(([name, v]) => v > 0 && v <= at && name !== "capacity")
    .sort((x, y) => y[1] - x[1]);
  return named.length === 0 ? "?" : `${named[0][0]} + ${at - named[0][1]}`;
}

/**
 * Fills what the scan without vectors has no need of, by which plans for C are smaller; gives back the check that it
 * was left alone. Other engines use it.
 */
function fillUnneeded({ engine, layout }: MemoryImage): () => void {
  if (engine.name !== "scalar") return () => undefined;
  const rest = new Uint8Array(engine.memory.buffer).subarray(
    Math.min(layout.scratch + A.SCAN_SCALAR_BYTES, layout.workEnd),
    layout.workEnd,
  );
  rest.fill(0xa5);
  return () => {
    if (!rest.every((b) => b === 0xa5))
      throw new Error("scan without vectors: got bytes written behind its scratch");
  };
}

/** Runs the three phases on all images in step and compares after each; returns detections per image of the batch. */
export function runInStep(
  images: readonly MemoryImage[],
  block: (l: MemoryLayout) => readonly number[] = (l) => l.imageBlocks,
): number[] {
  const [{ layout }] = images;
  expectSameImage(images, "writing");
  return block(layout).map((at, i) => {
    let count = 0;
    for (const phase of ["scan", "sort", "nms"] as const) {
      const untouched = phase === "scan" ? images.map(fillUnneeded) : [];
      const counts = images.map((x) => x.engine[phase](at));
      for (const check of untouched) check();
      expect(new Set(counts).size, `${phase} of image ${i}: ${counts.join(", ")}`).toBe(1);
      expectSameImage(images, `${phase} of image ${i}`, phase === "scan" ? 0 : at);
      count = counts[0];
    }
    return count;
  });
}
