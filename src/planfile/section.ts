/** Reads what the sections of all tasks share in a plan file. Only tasks use this module. */
import * as A from "../core/abi.ts";
import type { Column } from "../heads/channels.ts";
import type { Head } from "../heads/head.ts";
import { imageStart } from "../memory/write.ts";
import type { TaskMemory } from "../decode/tasks.ts";
import { refusePlan, within } from "./bytes.ts";
import * as F from "./format.ts";
import type { LoadedFile } from "./tasks.ts";

/** A row of the head table. */
export interface HeadInFile extends Pick<Head, "cells" | "gridWidth"> {
  readonly extra: Column;
  /** Offset of the row in the file. */
  readonly row: number;
}

/** The section of a plan file, and the memory that it is about. */
export interface Section {
  readonly work: TaskMemory;
  readonly heads: readonly HeadInFile[];
  /** Returns a word of the task record. */
  readonly word: (index: number) => number;
  /** Returns the offsets of the rows of a table; none if the table is empty. */
  readonly table: (offsetWord: number, countWord: number, words: number) => readonly number[];
}

/**
 * Reads the section. Throws unless its head table agrees with the head records of every image. A detection stores the
 * source of its cell, counted over the head records. The head table says where the extra channels of that cell are.
 */
export function openSection({ plan, engine, ...rest }: LoadedFile): Section {
  const { file, image, images, slots, inputSize } = plan;
  const { memory } = engine;
  const at = image.length;
  const word = (index: number): number => file.word(at, index);
  const first = images[0].plan;
  const work: TaskMemory = {
    ...rest,
    engine,
    memory,
    plan: { tensors: slots.map(({ spec }) => spec), batch: images.length, inputSize },
    layout: {
      slots: slots.map(({ address }) => address),
      order: file.word(first, A.P_ORDER),
      workEnd: file.word(first, A.P_DET_BOXES),
    },
  };
  const checkEqual = (what: string, got: number, expected: number): unknown =>
    got === expected || refusePlan(`${what} ${got}`, String(expected));
  let source = 0;
  const heads = file.table(F.T_HEAD_TABLE, F.T_HEADS, F.EXTRA_WORDS, at).map((row, k): HeadInFile => {
    const field = (index: number): number => file.word(row, index);
    const cells = field(F.E_CELLS);
    const extra = {
      tensor: field(F.E_SLOT),
      offset: field(F.E_OFFSET),
      channel: field(F.E_CHANNEL),
      cell: field(F.E_CELL),
    };
    checkEqual(`a head at source`, field(F.E_SOURCE), source);
    checkEqual("steps from image to image of", field(F.E_IMAGE), imageStart(work.plan, extra, 1));
    for (const block of images) {
      const record = file.word(block.plan, A.P_HEAD0) + k * A.HEAD_WORDS * 4;
      checkEqual("a head record at source", file.word(record, A.H_SOURCE), source);
      // A head of which no class is kept has no cells in its record.
      checkEqual("cells of a head record", file.word(record, A.H_CELLS) || cells, cells);
    }
    source += cells;
    return { cells, gridWidth: field(F.E_GRID_W), extra, row };
  });
  for (const block of images) checkEqual("heads", file.word(block.plan, A.P_HEADS), heads.length);
  within(heads.length, 0, heads.length, 1);
  return {
    work,
    heads,
    word,
    table: (offset, count, words) => (word(count) > 0 ? file.table(offset, count, words, at) : []),
  };
}
