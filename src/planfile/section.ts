/** Reads the task section of a plan file: the task record and the head table. Only tasks use this module. */
import * as A from "../core/abi.ts";
import { volume } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";
import type { Head } from "../heads/head.ts";
import { imageStart } from "../memory/write.ts";
import type { TaskMemory } from "../decode/tasks.ts";
import { type PlanBytes, refusePlan, within } from "./bytes.ts";
import { EXTRA, type Field, type Fields, HEAD, type TaskFields } from "./fields.ts";
import * as F from "./format.ts";
import type { LoadedFile } from "./tasks.ts";

/** A row of the head table. */
type HeadInFile<H> = H & Pick<Head, "cells" | "gridWidth"> & { readonly extra: Column };

/** Contents of a task section, and the memory of the loaded plan. */
export interface Section<R, H> {
  readonly work: TaskMemory;
  readonly task: R;
  readonly heads: readonly HeadInFile<H>[];
}

interface Counts {
  readonly count: number;
  readonly values: number;
  readonly heads: number;
  readonly headTable: number;
}

/**
 * Reads the task section. Throws if the head table points outside the slots, or differs from the head records of an
 * image: a detection stores the source of its cell, counted over the head records, and the head table must locate the
 * extra channels of the same cell.
 */
export function openSection<R extends Counts, H>(
  { plan, engine, ...rest }: LoadedFile,
  { record, head: fields }: TaskFields<R, H>,
): Section<R, H> {
  const { file, image, images, slots, inputSize } = plan;
  const { memory } = engine;
  const first = images[0].plan;
  const specs = slots.map(({ spec }) => spec);
  const work: TaskMemory = {
    ...rest,
    engine,
    memory,
    plan: { tensors: specs, batch: images.length, inputSize },
    layout: {
      slots: slots.map(({ address }) => address),
      order: file.word(first, A.P_ORDER),
      workEnd: file.word(first, A.P_DET_BOXES),
    },
  };
  const checkEqual = (what: string, got: number, expected: number): unknown =>
    got === expected || refusePlan(`${what} ${got}`, String(expected));
  const task = readFields(file, image.length, record);
  let source = 0;
  const heads = file.rows(task.headTable, task.heads, F.EXTRA_WORDS).map((row, k): HeadInFile<H> => {
    const head = readFields(file, row, HEAD);
    const extra = readFields(file, row, EXTRA);
    const { cells, gridWidth } = head;
    const elements = volume(specs[within(extra.tensor, 0, specs.length - 1, 0)].dims);
    // Check the last element, at `offset` plus all steps but one of each kind: it must lie in the slot.
    const last = [
      [images.length, head.image],
      [cells, extra.cell],
      [task.count * task.values, extra.channel],
    ].reduce((at, [count, step]) => at + (within(count, 0, elements, 1) - 1) * step, extra.offset);
    within(last, 1, elements, 0);
    within(gridWidth, 0, cells, 1);
    checkEqual(`a head at source`, head.source, source);
    checkEqual("steps from image to image of", head.image, imageStart(work.plan, extra, 1));
    for (const block of images) {
      const at = file.word(block.plan, A.P_HEAD0) + k * A.HEAD_WORDS * 4;
      checkEqual("a head record at source", file.word(at, A.H_SOURCE), source);
      // If `keep` leaves a head no class, its head record has 0 cells. Accept this.
      checkEqual("cells of a head record", file.word(at, A.H_CELLS) || cells, cells);
    }
    source += cells;
    return { ...readFields(file, row, fields), cells, gridWidth, extra };
  });
  for (const block of images) checkEqual("heads", file.word(block.plan, A.P_HEADS), heads.length);
  return { work, task, heads };
}

/** Throws if the plan lets the kernel suppress candidates, since the task needs all candidates. */
export function refuseKernelNms({ plan: { file, images } }: LoadedFile, what: string): void {
  for (const { plan } of images)
    if (file.word(plan, A.P_FLAGS) & (A.FLAG_NMS_CLASS | A.FLAG_NMS_ALL))
      refusePlan("suppression by the kernel", `none in a plan of ${what}`);
}

/** Reads a record. Throws for a value outside its field's range or codes, and for set bits that belong to no field. */
function readFields<T>(file: PlanBytes, row: number, fields: Fields<T>): T {
  const list = Object.entries<Field<string>>(fields);
  const values = list.map(([name, { at, mask, from, to, codes, doubles }]) => {
    const word = file.word(row, at);
    const bits = (word & mask) >>> 0;
    const known = list.reduce((all, [, field]) => (field.at === at ? all | field.mask : all), 0);
    if (word & ~known) refusePlan(`flags ${word}`, `some of ${known}`);
    if (doubles === 1) return [name, file.double(row, at)];
    if (doubles) return [name, [file.double(row, at), file.double(row, at + 2)]];
    if (to !== undefined) return [name, within(word, 0, to, from)];
    return [
      name,
      codes
        ? (Object.keys(codes).find((code) => codes[code] === bits) ??
          refusePlan(`${name} ${word}`, `one of ${Object.values(codes).join()}`))
        : bits > 0,
    ];
  });
  return Object.fromEntries(values) as T;
}
