/**
 * Converts finished rows (see `finished-rows.ts`) before a decoder reads them: to a tensor [images, room,
 * columns], and a row count for each image. Exporters write rows of all images one after the other, row counts that
 * vary per frame, or Hailo's packed buffers. The room is a power of two, so that few frames need a new plan.
 */
import type { Config } from "../config/types.ts";
import { refuse, refuseFor } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { numbersOf } from "../core/number.ts";
import { columnsText, ROW_ORDER_NAMES, type RowOrderName, rowOrder } from "../core/row-orders.ts";
import { shape, type TensorInput, type TensorSpec, specOf, volume } from "../core/tensor.ts";
import {
  countsOf,
  asConverted,
  findFinishedRows,
  type FoundRows,
  imagesOf,
  LEAST_ROOM,
} from "../heads/finished-rows.ts";
import { familyOf } from "../heads/query.ts";
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

export class FinishedRows {
  readonly #config: Config;
  readonly #asked: Parameters<typeof findFinishedRows>[0];
  readonly #format: string;
  /** The column order. Null until values have proved it. */
  #order: RowOrderName | null = null;
  /** The column order of the last rows. The values prove it, or merely allow it. */
  reading: RowOrderName | null = null;
  #room = LEAST_ROOM;

  constructor(config: Config) {
    const traits = TRAITS[familyOf(config).family];
    this.#config = config;
    this.#asked = { ...config, traits };
    this.#format = config.boxFormat ?? traits.finishedFormat ?? "xyxy";
  }

  /** The fields of the config for the last converted rows, and how they are read. */
  get converted(): ReturnType<typeof asConverted> {
    return asConverted(this.reading);
  }

  /** True if one of the tensors has the shape of finished rows. */
  reads(specs: readonly TensorSpec[]): boolean {
    return findFinishedRows(this.#asked, specs) !== null;
  }

  /** Returns the image count of finished rows if the shapes show it. Returns `null` for other tensors. */
  imagesIn(specs: readonly TensorSpec[]): number | null {
    const found = findFinishedRows(this.#asked, specs);
    return found && imagesOf(specs[found.at]);
  }

  /**
   * Returns the converted rows. Returns `null` if the outputs hold no finished rows.
   * @param images count of the caller's frames; `null` if unknown
   * @throws TensorError for rows that fit no column order or several, and for invalid counts
   */
  toOneForm(outputs: Outputs, images: number | null): { readonly [name: string]: TensorInput } | null {
    const given = this.#given(outputs);
    const found = findFinishedRows(
      this.#asked,
      given.map(({ spec }) => spec),
    );
    if (!found) return null;
    const { packed } = this.#asked.traits;
    const rows = packed ? this.#unpack(given[0]) : this.#readRows(found, given, images);
    return rows && this.#regroup(given[found.at].spec.name, rows);
  }

  #given(outputs: Outputs): Given[] {
    const isList = Array.isArray(outputs);
    const known = this.#config.outputs ?? [];
    return Object.entries(outputs as { readonly [name: string]: TensorInput }).map(([key, t], i) => {
      const name = isList ? (t?.name ?? known[i]?.name ?? `output${i}`) : key;
      return { spec: specOf(name, t, known.find((o) => o.name === name) ?? {}), data: t.data };
    });
  }

  /** Reads rows in one tensor, with counts or class ids in another tensor. */
  #readRows(found: FoundRows, given: readonly Given[], images: number | null): Rows | null {
    const { at, classIds, counts, orders, isRotated } = found;
    const { spec, data } = given[at];
    const width = spec.dims[spec.dims.length - 1];
    const values = numbersOf(spec, data);
    const count = volume(spec.dims) / width;
    const numbersAt = (i: number): ArrayLike<number> | null =>
      i < 0 ? null : numbersOf(given[i].spec, given[i].data);
    const batch = imagesOf(spec);
    // Rows of one class may have no class ids.
    const labels =
      numbersAt(classIds) ?? (rowOrder(orders[0]).classId === null ? new Float32Array(count) : null);
    if (labels && labels.length !== count)
      refuse(
        shape(given[classIds].spec),
        `${labels.length} class ids`,
        `${count}, one for each row of ${shape(spec)}`,
      );
    if (labels && isRotated) {
      this.reading = "end-to-end";
      return withLabels(values, labels, { batch, columns: width, isRotated });
    }
    const name = this.#chooseOrder(found, spec, values, count, labels);
    if (name === null) return null;
    if (labels) return withLabels(values, labels, { batch, columns: width, isRotated });
    const { image } = rowOrder(name);
    const perImage = numbersAt(counts);
    if (perImage)
      return { values, width, images: this.#counted(given[counts].spec, perImage, count, spec, values) };
    return image !== null && batch === 1
      ? byImage(spec, values, width, image, images)
      : { values, width, images: equalRanges(batch, count / batch) };
  }

  /** Returns the column order that the values prove. Later frames must have the same order. */
  #chooseOrder(
    { orders, mayBeCells }: FoundRows,
    spec: TensorSpec,
    values: ArrayLike<number>,
    count: number,
    labels: ArrayLike<number> | null,
  ): RowOrderName | null {
    const tried = this.#order && orders.includes(this.#order) ? [this.#order] : orders;
    const found = tried.map((name) =>
      whyNotOrder(rowOrder(name), values, count, labels, this.#config.classes),
    );
    const fitting = tried.filter((_, i) => found[i] === null);
    const isTold = fitting.length === 1 || count === 0 || !hasDetections(tried, values, count);
    if (fitting.length === 0) {
      // Return null if the rows may be raw cells, as in other exports of this family.
      if (
        mayBeCells &&
        this.#order === null &&
        (this.#config.scores === "logits" || areScores(values, values.length / count))
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
    const { score, classId } = rowOrder(this.reading as RowOrderName);
    const width = values.length / all;
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
