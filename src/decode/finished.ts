/**
 * Brings rows that a network finished into one form before a decoder reads them: [images, room, columns], and how many
 * rows each image has. Rows of all images may follow each other, their count changes from frame to frame, and Hailo
 * packs them. Room is a power of two, so that the plan is made anew only where a frame has more rows than any before.
 */
import type { Config } from "../config/types.ts";
import { refuse, refuseFor } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { numbersOf } from "../core/number.ts";
import {
  columnsText,
  COUNTS_SUFFIX,
  rowOrder,
  ROW_ORDER_NAMES,
  type RowOrderName,
} from "../core/row-orders.ts";
import { isFloat, shape, type TensorInput, type TensorSpec, specOf, volume } from "../core/tensor.ts";
import { familyOf } from "../heads/query.ts";
import type { Outputs } from "./inputs.ts";

/** A tensor of the frame and what is known of it. */
interface Given {
  readonly spec: TensorSpec;
  readonly data: TensorInput["data"];
}

/** The rows of a frame, each as the numbers of its columns. */
interface Rows {
  readonly values: ArrayLike<number>;
  readonly width: number;
  /** Rows of each image: [first, count]. */
  readonly images: readonly (readonly [first: number, count: number])[];
}

/** Fewest rows of room. */
const LEAST_ROOM = 16;
/** How far a score may lie outside 0..1: two steps of f16, whose spacing above 1 is 2^-10. */
const SLACK = 2 ** -9;

/** Returns what brings the rows of a config's network into one form; `null` if its family has no finished rows. */
export function finishedRowsOf(config: Config): FinishedRows | null {
  if (!config.decodes) return null;
  const { family } = familyOf(config, config.outputs ?? []);
  const { finishedRows } = TRAITS[family];
  return finishedRows ? new FinishedRows(config, finishedRows) : null;
}

export class FinishedRows {
  readonly #config: Config;
  readonly #orders: readonly RowOrderName[];
  readonly #format: string;
  readonly #isPacked: boolean;
  readonly #hasOnlyFinishedRows: boolean;
  /** The order, once values told it. */
  #order: RowOrderName | null = null;
  /** The order of the last rows, told or not. */
  reading: RowOrderName | null = null;
  #room = LEAST_ROOM;

  constructor(config: Config, orders: readonly RowOrderName[]) {
    const { family } = familyOf(config, config.outputs ?? []);
    const { finishedFormat, packed, head } = TRAITS[family];
    this.#config = config;
    this.#orders = orders.filter((name) => config.reading === null || name === config.reading);
    this.#format = config.boxFormat ?? finishedFormat ?? "xyxy";
    this.#isPacked = packed === "hailo";
    // Rows of priors have their boxes and scores in tensors of their own.
    this.#hasOnlyFinishedRows = head === "plain" || head === "prior";
  }

  /** True if tensors of these shapes hold finished rows. */
  reads(specs: readonly Pick<TensorSpec, "name" | "dims" | "type">[]): boolean {
    return this.#isPacked ? specs.length === 1 : this.#rowsAmong(specs) >= 0;
  }

  /**
   * Returns the rows in one form, `null` if the outputs hold no finished rows.
   * @param images how many images the caller has frames of; `null` if unknown
   * @throws TensorError for rows that fit no order, or several, and for counts that are none
   */
  toOneForm(outputs: Outputs, images: number | null): { readonly [name: string]: TensorInput } | null {
    const given = this.#given(outputs);
    if (!this.reads(given.map(({ spec }) => spec))) return null;
    const at = this.#isPacked ? 0 : this.#rowsAmong(given.map(({ spec }) => spec));
    const rows = this.#isPacked
      ? this.#unpack(given[0])
      : this.#readRows(
          given[at],
          given.filter((_, i) => i !== at),
          images,
        );
    return rows && this.#regroup(given[at].spec.name, rows);
  }

  /** Returns the tensors with their names. */
  #given(outputs: Outputs): Given[] {
    const isList = Array.isArray(outputs);
    const known = this.#config.outputs ?? [];
    return Object.entries(outputs as { readonly [name: string]: TensorInput }).map(([key, t], i) => {
      const name = isList ? (t?.name ?? known[i]?.name ?? `output${i}`) : key;
      return { spec: specOf(name, t, known.find((o) => o.name === name) ?? {}), data: t.data };
    });
  }

  /** Returns the index of the tensor with the rows, or -1. */
  #rowsAmong(specs: readonly Pick<TensorSpec, "name" | "dims" | "type">[]): number {
    const { roles } = this.#config;
    const widths = this.#orders.map((name) => rowOrder(name).width);
    const fitting = specs.flatMap(({ name, dims, type }, i) => {
      // Networks with other exports too have rows [1,N,7] of their cells.
      const hasRank = dims.length === 2 || (this.#hasOnlyFinishedRows && dims.length > 2 && dims.length < 5);
      const isOne = dims.length < 4 || dims[1] === 1;
      const isNamed = [roles?.boxes ?? name].flat().includes(name);
      return isFloat({ type }) && hasRank && isOne && isNamed && widths.includes(dims.at(-1) as number)
        ? [i]
        : [];
    });
    const ranks = fitting.map((i) => specs[i].dims.length);
    const highest = fitting.filter((i) => specs[i].dims.length === Math.max(...ranks));
    const others = specs.length - 1;
    const isAlone = others === 0 || (others === 1 && specs.some(({ type }, i) => i !== highest[0] && type));
    return highest.length === 1 && isAlone ? highest[0] : -1;
  }

  /** Reads rows that stand in one tensor, with their counts or class ids in another one. */
  #readRows({ spec, data }: Given, others: readonly Given[], images: number | null): Rows | null {
    const { dims } = spec;
    const width = dims.at(-1) as number;
    const values = numbersOf(spec, data);
    const count = volume(dims) / width;
    const [other] = others;
    const extra = other ? numbersOf(other.spec, other.data) : null;
    const batch = dims.length > 2 ? dims[0] : 1;
    if (extra !== null && width === 5 && extra.length !== count)
      refuse(shape(other.spec), `${extra.length} class ids`, `${count}, one for each row of ${shape(spec)}`);
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

  /** Returns the order that the values have. Once told, later frames must have it too. */
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
      // The rows may be raw cells: this family has other exports too.
      if (
        !this.#hasOnlyFinishedRows &&
        this.#order === null &&
        [4, 5].includes(rowOrder(tried[0]).width - (this.#config.classes ?? 0)) &&
        (this.#config.scores === "logits" || areScores(values, rowOrder(tried[0]).width))
      )
        return null;
      const texts = tried.map((name, i) => `${columnsText(name, this.#format)} (${found[i]})`);
      return refuseFor(
        [{ option: "reading" }],
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

  /** Returns the rows of each image where a tensor counts them. */
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
    // Without detections some exports write one row of nothing.
    for (let i = first; i < all; i++)
      if (values[i * width + score] > 0 && values[i * width + (classId as number)] >= 0)
        refuse(
          shape(spec),
          `counts of ${first} rows in all`,
          `${all}, as ${shape(rows)} has detections beyond them`,
        );
    return images;
  }

  /** Copies the rows into [images, room, columns]. Drops padding (negative class id, score or image index). */
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
      [name + COUNTS_SUFFIX]: { data: counts, dims: [images.length] },
    };
  }

  /** Reads a buffer of HailoRT: by class, by score, or in TensorFlow's form. */
  #unpack({ spec, data }: Given): Rows {
    this.reading = "end-to-end";
    const { dims, type } = spec;
    const { classes } = this.#config;
    if (type === "u8" || type === "i8") return byScore(spec, data as Uint8Array);
    if (dims.length === 4 && dims[2] === 5) return fromPlanes(spec, numbersOf(spec, data), classes);
    return byClass(spec, numbersOf(spec, data), classes);
  }
}

/** Returns ranges of `count` rows, one for each image. */
const equalRanges = (images: number, count: number): Rows["images"] =>
  Array.from({ length: images }, (_, i) => [i * count, count] as const);

/** Joins mmdeploy's rows with their class ids. */
function withLabels(
  values: ArrayLike<number>,
  labels: ArrayLike<number>,
  batch: number,
  count: number,
): Rows {
  const joined = new Float32Array(labels.length * 6);
  for (let i = 0; i < labels.length; i++) {
    for (let c = 0; c < 5; c++) joined[i * 6 + c] = values[i * 5 + c];
    joined[i * 6 + 5] = labels[i];
  }
  return { values: joined, width: 6, images: equalRanges(batch, count) };
}

/** Groups rows by their column of images. */
function byImage(
  spec: TensorSpec,
  values: ArrayLike<number>,
  width: number,
  image: number,
  images: number | null,
): Rows {
  const groups: number[][] = Array.from({ length: images ?? 1 }, () => []);
  for (let i = 0; i < values.length; i += width) {
    const index = values[i + image];
    if (index < 0) continue;
    if (images !== null && index >= images)
      refuse(shape(spec), `a row of image ${index}`, `images 0..${images - 1}, as many as there are frames`);
    while (groups.length <= index) groups.push([]);
    groups[index].push(i / width);
  }
  const order = groups.flat();
  const sorted = new Float32Array(order.length * width);
  order.forEach((row, i) => {
    for (let c = 0; c < width; c++) sorted[i * width + c] = values[row * width + c];
  });
  let first = 0;
  const places = groups.map(({ length }) => [(first += length) - length, length] as const);
  return { values: sorted, width, images: places };
}

/** Most images of a batch that a column of indices may name. */
const MOST_IMAGES = 4096;

/** Returns why rows do not have an order, `null` if they have. NaN is left to the decoder, which drops such rows. */
function whyNotOrder(
  { width, image, box, score, classId }: RowOrder,
  values: ArrayLike<number>,
  count: number,
  labels: ArrayLike<number> | null,
  classes: number | null,
): string | null {
  let swapped = 0;
  let seen = 0;
  for (let i = 0, at = 0; i < count; i++, at += width) {
    const id = labels ? labels[i] : values[at + (classId as number)];
    const s = values[at + score];
    const of = image === null ? 0 : values[at + image];
    if (isFraction(of) || !(of === -1 || (of >= 0 && of < MOST_IMAGES))) return `image ${of} in row ${i}`;
    if (of < 0 || id === -1) continue;
    if (isFraction(id) || id < 0) return `class ${id} in row ${i}`;
    if (classes !== null && id >= classes && s > 0) return `class ${id} of ${classes} in row ${i}`;
    // Accept -1: super-gradients fills padding with -1, and `#regroup` drops it.
    if (s > 1 + SLACK || s < -1) return `score ${s} in row ${i}`;
    if (s > 0) {
      seen++;
      if (values[at + box + 2] < values[at + box] || values[at + box + 3] < values[at + box + 1]) swapped++;
    }
  }
  return swapped * 2 > seen ? `${swapped} of ${seen} boxes turned around` : null;
}

/** True for a finite number that is not whole. */
const isFraction = (x: number): boolean => Number.isFinite(x) && !Number.isInteger(x);

/** True if the columns after the box are probabilities, as those of raw cells are. */
function areScores(values: ArrayLike<number>, width: number): boolean {
  for (let i = 0; i < values.length; i++)
    if (i % width > 3 && (values[i] < -SLACK || values[i] > 1 + SLACK)) return false;
  return true;
}

/** True if some row is more than padding in one of the orders. */
const hasDetections = (names: readonly RowOrderName[], values: ArrayLike<number>, count: number): boolean =>
  names.some((name) => {
    const { width, score, image } = rowOrder(name);
    for (let i = 0; i < count; i++)
      if (values[i * width + score] > 0 && (image === null || values[i * width + image] >= 0)) return true;
    return false;
  });

type RowOrder = ReturnType<typeof rowOrder>;

const classesAsked = (spec: TensorSpec): never =>
  refuseFor(
    [{ option: "classes" }, { option: "labels" }],
    shape(spec),
    "a buffer by class and no number of classes",
    "classes, or labels",
  );

/** Reads NMS_BY_CLASS: for each class a count, then so many rows. What follows the last class is old memory. */
function byClass(spec: TensorSpec, values: ArrayLike<number>, classes: number | null): Rows {
  if (classes === null) return classesAsked(spec);
  const batch = spec.dims.length > 1 ? spec.dims[0] : 1;
  const length = values.length / batch;
  const most = (length / classes - 1) / 5;
  if (!Number.isInteger(most) || most < 1)
    refuseFor(
      [{ option: "classes" }],
      shape(spec),
      `${length} numbers for ${classes} classes`,
      "for each class a count and as many rows of five: C (1 + 5 max)",
    );
  return collect(spec, batch, (image, add) => {
    let at = image * length;
    for (let id = 0; id < classes; id++) {
      const n = values[at++];
      if (!Number.isInteger(n) || n < 0 || n > most)
        refuse(
          shape(spec),
          `count ${n} of class ${id}`,
          `a whole number in 0..${most}: are there ${classes} classes?`,
        );
      for (let i = 0; i < n; i++, at += 5)
        add(values[at], values[at + 1], values[at + 2], values[at + 3], values[at + 4], id);
    }
  });
}

/** Reads pyhailort's tf_nms_format [B,C,5,max]. Places of score 0 are empty. */
function fromPlanes(spec: TensorSpec, values: ArrayLike<number>, classes: number | null): Rows {
  const [batch, count, , most] = spec.dims;
  if (classes !== null && classes !== count)
    refuseFor([{ option: "classes" }], shape(spec), `${count} classes`, `${classes}, as the config says`);
  return collect(spec, batch, (image, add) => {
    for (let id = 0; id < count; id++) {
      const at = (image * count + id) * 5 * most;
      for (let i = 0; i < most; i++) {
        const [a, b, c, d, score] = [0, 1, 2, 3, 4].map((k) => values[at + k * most + i]);
        if (score !== 0) add(a, b, c, d, score, id);
      }
    }
  });
}

const RECORD = 22;

/** Bytes of a record with a mask: those of a record, the mask's size, a pointer, and the mask's place in the buffer. */
const MASK_RECORD = 46;

/**
 * True if a buffer holds records with masks. Each record says where its mask stands: after all records, and after the
 * mask of the record before.
 */
function holdsMasks(view: DataView, length: number): boolean {
  const n = view.getUint16(0, true);
  let end = 2 + n * MASK_RECORD;
  if (n === 0 || end > length) return false;
  for (let at = 2; at < 2 + n * MASK_RECORD; at += MASK_RECORD) {
    const size = Number(view.getBigUint64(at + RECORD, true));
    const place = Number(view.getBigUint64(at + MASK_RECORD - 8, true));
    if (place < end || size === 0 || place + size > length) return false;
    end = place + size;
  }
  return true;
}

/** Reads NMS_BY_SCORE: a u16 count, then records of five f32 and a u16 class id, packed. */
function byScore(spec: TensorSpec, data: Uint8Array): Rows {
  const batch = spec.dims.length > 1 ? spec.dims[0] : 1;
  const length = data.length / batch;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (holdsMasks(view, length))
    refuse(
      shape(spec),
      "records with masks, HailoRT's NMS_WITH_BYTE_MASK",
      "HAILO_NMS_BY_SCORE or HAILO_NMS_BY_CLASS as the format of the output: these masks are not read",
    );
  const most = (length - 2) / RECORD;
  if (!Number.isInteger(most))
    refuse(shape(spec), `${length} bytes`, "a count of two bytes and records of 22");
  return collect(spec, batch, (image, add) => {
    let at = image * length;
    const n = view.getUint16(at, true);
    if (n > most) refuse(shape(spec), `count ${n}`, `at most ${most}`);
    at += 2;
    for (let i = 0; i < n; i++, at += RECORD) {
      const [a, b, c, d, score] = [0, 4, 8, 12, 16].map((k) => view.getFloat32(at + k, true));
      add(a, b, c, d, score, view.getUint16(at + 20, true));
    }
  });
}

type Add = (a: number, b: number, c: number, d: number, score: number, id: number) => void;

/** Collects the rows of each image. Throws a TensorError for a score outside 0..1. */
function collect(spec: TensorSpec, batch: number, read: (image: number, add: Add) => void): Rows {
  const values: number[] = [];
  const images: (readonly [number, number])[] = [];
  for (let image = 0; image < batch; image++) {
    const first = values.length / 6;
    read(image, (a, b, c, d, score, id) => {
      if (score > 1 + SLACK || score < -SLACK)
        refuse(shape(spec), `score ${score}`, "a probability: is this the buffer that its network wrote?");
      values.push(a, b, c, d, score, id);
    });
    images.push([first, values.length / 6 - first]);
  }
  return { values, width: 6, images };
}
