/**
 * Converts finished rows (see `finished-rows.ts`) before a decoder reads them: to a tensor [images, room,
 * columns], and a row count for each image. Exporters write rows of all images one after the other, row counts that
 * vary per frame, or Hailo's packed buffers. The room is a power of two, so that few frames need a new plan.
 */
import type { Config } from "../config/types.ts";
import { refuse, refuseFor } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { numbersOf } from "../core/number.ts";
import { columnsText, rowOrder, ROW_ORDER_NAMES, type RowOrderName } from "../core/row-orders.ts";
import { isFloat, shape, type TensorInput, type TensorSpec, specOf, volume } from "../core/tensor.ts";
import { familyOf } from "../heads/query.ts";
import { hasOnlyFinishedRows, mayBeCells } from "../heads/rows.ts";
import { byClass, byScore, fromPlanes } from "./hailo.ts";
import type { Outputs } from "./inputs.ts";
import {
  type Rows,
  areScores,
  byImage,
  equalRanges,
  hasDetections,
  whyNotOrder,
  withLabels,
} from "./row-values.ts";

/** A tensor of the frame with its specification. */
interface Given {
  readonly spec: TensorSpec;
  readonly data: TensorInput["data"];
}

/** Smallest count of rows for which room is reserved. */
const LEAST_ROOM = 16;

/** Column count of mmdeploy's rotated boxes. Their class ids are a separate tensor. */
const ROTATED_WIDTH = 6;

/** Returns the name of the tensor with the row counts of the images. */
export const countsOf = (name: string): string => `rows of ${name}`;

/** Returns the specs of converted rows and their counts. `extra`: count of extra columns, such as 1 for an angle. */
export const unpackedSpecs = (name: string, extra = 0): readonly TensorSpec[] => {
  const width = rowOrder("end-to-end").width + extra;
  const plain = { scale: 1, zeroPoint: 0, order: null } as const;
  return [
    { ...plain, name, dims: [1, LEAST_ROOM, width], type: "f32" },
    { ...plain, name: countsOf(name), dims: [1], type: "i32", countsRows: true },
  ];
};

const PARTNER_NAME = /num|count|valid|class|label/i;

/** Returns the other tensors that may hold counts or class ids of the rows. If there are several, names decide. */
function partnersOf<T extends { readonly spec: Pick<TensorSpec, "name"> }>(
  given: readonly T[],
  at: number,
): T[] {
  const others = given.filter((_, i) => i !== at);
  return others.length < 2 ? others : others.filter(({ spec }) => PARTNER_NAME.test(spec.name));
}

export class FinishedRows {
  readonly #config: Config;
  readonly #orders: readonly RowOrderName[];
  readonly #format: string;
  readonly #isPacked: boolean;
  readonly #hasOnlyFinishedRows: boolean;
  /** The column order. Null until values have proved it. */
  #order: RowOrderName | null = null;
  /** The column order of the last rows. The values prove it, or merely allow it. */
  reading: RowOrderName | null = null;
  #room = LEAST_ROOM;

  constructor(config: Config, orders: readonly RowOrderName[]) {
    const { family } = familyOf(config);
    const traits = TRAITS[family];
    this.#config = config;
    const { reading } = config;
    this.#orders = orders.filter((name) =>
      reading === null ? !rowOrder(name).isOnlyStated : name === reading,
    );
    this.#format = config.boxFormat ?? traits.finishedFormat ?? "xyxy";
    this.#isPacked = traits.packed === "hailo";
    this.#hasOnlyFinishedRows = hasOnlyFinishedRows(traits);
  }

  /** True if one of the tensors has the shape of finished rows. */
  reads(specs: readonly Pick<TensorSpec, "name" | "dims" | "type">[]): boolean {
    return this.#rowsAmong(specs) >= 0;
  }

  /** Returns the image count of finished rows if the shapes show it. Returns `null` for other tensors. */
  imagesIn(specs: readonly TensorSpec[]): number | null {
    const at = this.#rowsAmong(specs);
    if (at < 0) return null;
    const { dims } = specs[at];
    return dims.length > 2 ? dims[0] : 1;
  }

  /**
   * Returns the converted rows. Returns `null` if the outputs hold no finished rows.
   * @param images count of the caller's frames; `null` if unknown
   * @throws TensorError for rows that fit no column order or several, and for invalid counts
   */
  toOneForm(outputs: Outputs, images: number | null): { readonly [name: string]: TensorInput } | null {
    const given = this.#given(outputs);
    const at = this.#rowsAmong(given.map(({ spec }) => spec));
    if (at < 0) return null;
    const rows = this.#isPacked
      ? this.#unpack(given[0])
      : this.#readRows(given[at], partnersOf(given, at), images);
    return rows && this.#regroup(given[at].spec.name, rows);
  }

  #given(outputs: Outputs): Given[] {
    const isList = Array.isArray(outputs);
    const known = this.#config.outputs ?? [];
    return Object.entries(outputs as { readonly [name: string]: TensorInput }).map(([key, t], i) => {
      const name = isList ? (t?.name ?? known[i]?.name ?? `output${i}`) : key;
      return { spec: specOf(name, t, known.find((o) => o.name === name) ?? {}), data: t.data };
    });
  }

  /** True if rows with separate class ids may have an angle: mmdeploy's cx cy w h angle score. */
  #mayBeRotated(width: number): boolean {
    return width === ROTATED_WIDTH && this.#orders.includes("box-score-labels");
  }

  /** Returns the index of the tensor with the rows, or -1. A packed buffer must be the only tensor. */
  #rowsAmong(specs: readonly Pick<TensorSpec, "name" | "dims" | "type">[]): number {
    if (this.#isPacked) return specs.length === 1 ? 0 : -1;
    const { roles } = this.#config;
    const widths = this.#orders.map((name) => rowOrder(name).width);
    if (this.#mayBeRotated(ROTATED_WIDTH)) widths.push(ROTATED_WIDTH);
    const fitting = specs.flatMap(({ name, dims, type }, i) => {
      // Accept [1,N,7] only if the family has no other exports: in other exports, such rows may be raw cells.
      const hasRank = dims.length === 2 || (this.#hasOnlyFinishedRows && dims.length > 2 && dims.length < 5);
      const isOne = dims.length < 4 || dims[1] === 1;
      const isNamed = [roles?.boxes ?? name].flat().includes(name);
      return isFloat({ type }) && hasRank && isOne && isNamed && widths.includes(dims[dims.length - 1])
        ? [i]
        : [];
    });
    const ranks = fitting.map((i) => specs[i].dims.length);
    const highest = fitting.filter((i) => specs[i].dims.length === Math.max(...ranks));
    if (highest.length !== 1) return -1;
    const others = partnersOf(
      specs.map((spec) => ({ spec })),
      highest[0],
    );
    return others.length === 0 || (others.length === 1 && others[0].spec.type) ? highest[0] : -1;
  }

  /** Reads rows in one tensor, with counts or class ids in another tensor. */
  #readRows({ spec, data }: Given, others: readonly Given[], images: number | null): Rows | null {
    const { dims } = spec;
    const width = dims[dims.length - 1];
    const values = numbersOf(spec, data);
    const count = volume(dims) / width;
    const [other] = others;
    const extra = other ? numbersOf(other.spec, other.data) : null;
    const batch = dims.length > 2 ? dims[0] : 1;
    // If another tensor has four values per row, it holds boxes. These rows are then scores, not finished rows.
    if (extra?.length === count * 4 && other.spec.dims.slice(-1)[0] === 4) return null;
    if (extra !== null && width === 5 && extra.length !== count)
      refuse(shape(other.spec), `${extra.length} class ids`, `${count}, one for each row of ${shape(spec)}`);
    if (extra?.length === count && count > 1 && this.#mayBeRotated(width)) {
      if (this.#config.task?.name !== "oriented")
        refuseFor(
          [{ option: "task", value: "oriented" }],
          shape(spec),
          "rows of six beside class ids: cx cy w h angle score of rotated boxes",
          'task: "oriented"',
        );
      this.reading = "end-to-end";
      return withLabels(values, extra, batch, count / batch, true);
    }
    const hasLabels = extra !== null && width === 5;
    const hasCounts = extra !== null && !hasLabels && other.spec.dims.length < 3;
    if (extra !== null && !hasLabels && !hasCounts) return null;
    const candidates = this.#orders.filter((name) => {
      const order = rowOrder(name);
      if (order.width !== width || (order.classId === null) !== hasLabels) return false;
      return hasCounts ? order.isCounted === true : true;
    });
    if (candidates.length === 0) return null;
    const name = this.#chooseOrder(candidates, spec, values, count, hasLabels ? extra : null);
    if (name === null) return null;
    if (hasLabels) return withLabels(values, extra, batch, count / batch);
    const { image } = rowOrder(name);
    if (hasCounts)
      return {
        values,
        width,
        images: this.#counted(other.spec, extra as ArrayLike<number>, count, spec, values),
      };
    if (image !== null && (batch === 1 || images === batch || images === null))
      return batch > 1
        ? { values, width, images: equalRanges(batch, count / batch) }
        : byImage(spec, values, width, image, images);
    return { values, width, images: equalRanges(batch, count / batch) };
  }

  /** Returns the column order that the values prove. Later frames must have the same order. */
  #chooseOrder(
    candidates: readonly RowOrderName[],
    spec: TensorSpec,
    values: ArrayLike<number>,
    count: number,
    labels: ArrayLike<number> | null,
  ): RowOrderName | null {
    const tried = this.#order && candidates.includes(this.#order) ? [this.#order] : candidates;
    const found = tried.map((name) =>
      whyNotOrder(rowOrder(name), values, count, labels, this.#config.classes),
    );
    const fitting = tried.filter((_, i) => found[i] === null);
    const isTold = fitting.length === 1 || count === 0 || !hasDetections(tried, values, count);
    if (fitting.length === 0) {
      // Return null if the rows may be raw cells, as in other exports of this family.
      if (
        !this.#hasOnlyFinishedRows &&
        this.#order === null &&
        mayBeCells(rowOrder(tried[0]).width, this.#config.classes) &&
        (this.#config.scores === "logits" || areScores(values, rowOrder(tried[0]).width))
      )
        return null;
      const texts = tried.map((name, i) => `${columnsText(name, this.#format)} (${found[i]})`);
      return refuseFor(
        ["reading"],
        shape(spec),
        `rows that are not ${texts.join(", nor ")}`,
        "rows of a known order: the option reading names one of " + ROW_ORDER_NAMES.join(", "),
      );
    }
    if (!isTold)
      return refuseFor(
        [{ option: "reading", value: fitting[0] }],
        shape(spec),
        `rows that can be ${fitting.map((name) => columnsText(name, this.#format)).join(" or ")}`,
        fitting.map((name) => `reading: "${name}"`).join(" or "),
      );
    if (fitting.length === 1 && hasDetections(fitting, values, count)) this.#order = fitting[0];
    return (this.reading = labels ? "end-to-end" : fitting[0]);
  }

  /** Returns the range of rows of each image, from a tensor of row counts. */
  #counted(
    spec: TensorSpec,
    counts: ArrayLike<number>,
    all: number,
    rows: TensorSpec,
    values: ArrayLike<number>,
  ): Rows["images"] {
    const { width, score, classId } = rowOrder(this.reading as RowOrderName);
    let first = 0;
    const images = Array.from(counts, (n, i) => {
      if (!Number.isInteger(n) || n < 0)
        refuse(shape(spec), `count ${n} of image ${i}`, "a whole number of rows");
      const from = first;
      first += n;
      return [from, n] as const;
    });
    if (first > all)
      refuse(shape(spec), `counts of ${first} rows in all`, `at most ${all}, as ${shape(rows)} has`);
    // Allow rows after the counted ones if they are empty: some exports write one if there is no detection.
    for (let i = first; i < all; i++)
      if (values[i * width + score] > 0 && values[i * width + (classId as number)] >= 0)
        refuse(
          shape(spec),
          `counts of ${first} rows in all`,
          `${all}, as ${shape(rows)} has detections beyond them`,
        );
    return images;
  }

  /** Copies the rows into [images, room, columns]. Drops padding: a negative class id, score or image index. */
  #regroup(name: string, { values, width, images }: Rows): { readonly [name: string]: TensorInput } {
    const { score, classId, image } = rowOrder(this.reading as RowOrderName);
    const most = images.reduce((n, [, count]) => Math.max(n, count), 0);
    while (this.#room < most) this.#room *= 2;
    const data = new Float32Array(images.length * this.#room * width);
    const counts = new Int32Array(images.length);
    images.forEach(([first, count], k) => {
      let n = 0;
      for (let i = first; i < first + count; i++) {
        const at = i * width;
        const isPadding =
          values[at + (classId as number)] < 0 ||
          values[at + score] < 0 ||
          (image !== null && values[at + image] < 0);
        if (isPadding) continue;
        const to = (k * this.#room + n++) * width;
        for (let c = 0; c < width; c++) data[to + c] = values[at + c];
      }
      counts[k] = n;
    });
    return {
      [name]: { data, dims: [images.length, this.#room, width] },
      [countsOf(name)]: { data: counts, dims: [images.length] },
    };
  }

  /** Reads the boxes from a HailoRT buffer: rows by class, rows by score, or TensorFlow's planes. */
  #unpack({ spec, data }: Given): Rows {
    this.reading = "end-to-end";
    const { dims, type } = spec;
    const { classes } = this.#config;
    if (type === "u8" || type === "i8") return byScore(spec, data as Uint8Array);
    if (dims.length === 4 && dims[2] === 5) return fromPlanes(spec, numbersOf(spec, data), classes);
    return byClass(spec, numbersOf(spec, data), classes);
  }
}
