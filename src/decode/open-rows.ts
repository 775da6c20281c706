/**
 * Reserves room for networks whose finished list has another row count in each frame and spans several tensors. At the
 * first change of the row count, a new plan gets spare rows and a count of the used rows. Another plan is made only if
 * a frame has more rows than the plan has room for.
 */
import { knownOf } from "../core/json.ts";
import type { Config } from "../config/types.ts";
import { READINGS } from "../core/readings.ts";
import { type TensorInput, volume } from "../core/tensor.ts";
import type { Interpreted } from "../plan/make.ts";
import type { Plan } from "../plan/plan.ts";

/** Smallest count of rows for which room is reserved. */
const LEAST_ROOM = 16;
const COUNT_NAME = "rows of the list";

/** A tensor with one row per detection: its dims, and the index of the dimension for the rows. */
interface Rows {
  readonly dims: readonly number[];
  readonly axis: number;
}

type Named = readonly (readonly [name: string, t: TensorInput])[];

export class OpenRows {
  /** The tensors with rows, by name. Null until the row count has changed for the first time. */
  #rows: ReadonlyMap<string, Rows> | null = null;
  #room = LEAST_ROOM;

  get isOpen(): boolean {
    return this.#rows !== null;
  }

  /** Begins to pad if the outputs differ from the plan only by the row count. */
  open(plan: Plan, given: Named): void {
    if (this.#rows !== null || plan.task || plan.heads.length !== 1) return;
    const [{ cells, count, score, box, classId }] = plan.heads;
    const { cells: kind, finished, rows } = READINGS[plan.reading];
    if (count !== null || kind !== undefined || rows || (finished && !classId)) return;
    const found = new Map<string, Rows>();
    for (const at of new Set([box, score, ...(classId ? [classId] : [])].map(({ tensor }) => tensor))) {
      const { name, dims } = plan.tensors[at];
      const t = given.find(([key]) => key === name)?.[1];
      const axis = t ? axisOf(dims, t.dims, cells) : -1;
      // Give up unless the rows of each image are contiguous.
      if (axis < 0 || volume(dims.slice(0, axis)) !== plan.batch) return;
      found.set(name, { dims, axis });
    }
    this.#rows = found;
  }

  /** Returns the outputs padded to the room, with a count of the rows. Returns null unless they fit `#rows`. */
  pad(given: Named): { readonly [name: string]: TensorInput } | null {
    const rows = this.#rows;
    if (rows === null) return null;
    let [n, images] = [-1, 1];
    for (const [name, t] of given) {
      const known = rows.get(name);
      if (!known) continue;
      const count = t.dims[known.axis];
      const isKnown =
        t.dims.length === known.dims.length &&
        t.dims.every((d, i) => i === known.axis || d === known.dims[i]);
      if (!isKnown || (n >= 0 && n !== count)) return null;
      n = count;
      images = volume(known.dims.slice(0, known.axis));
    }
    if (n < 0) return null;
    while (this.#room < n) this.#room *= 2;
    const padded = given.map(([name, t]) => {
      const known = rows.get(name);
      return [name, known ? withRoom(t, known.axis, images, this.#room) : t] as const;
    });
    const count = { data: new Int32Array(images).fill(n), dims: [images] };
    return Object.fromEntries([...padded, [COUNT_NAME, count]]);
  }

  /** Returns the config with the tensor of the row count added to the head's outputs. */
  named(config: Config): Config {
    const { headOutputs } = config;
    return this.isOpen && headOutputs ? { ...config, headOutputs: [...headOutputs, COUNT_NAME] } : config;
  }

  /** Returns the interpretations with the tensor of the row count as `count` of their heads. */
  count(interpreted: Interpreted): Interpreted {
    const tensor = interpreted.outputs.findIndex(({ name }) => name === COUNT_NAME);
    if (tensor < 0) return interpreted;
    const count = { tensor, offset: 0, channel: 0, cell: 0 };
    return {
      ...interpreted,
      interpretations: interpreted.interpretations.map((one) => ({
        ...one,
        uses: [...one.uses, tensor],
        heads: one.heads.map((head) => ({ ...head, count })),
      })),
    };
  }
}

/** Returns the index of the only dimension that differs, if it is `cells` long in `known`. Returns -1 otherwise. */
function axisOf(known: readonly number[], dims: readonly number[], cells: number): number {
  if (known.length !== dims.length) return -1;
  const differing = known.flatMap((n, i) => (n === dims[i] ? [] : [i]));
  return differing.length === 1 && known[differing[0]] === cells ? differing[0] : -1;
}

/** Copies the rows of each image to the start of the image's room. */
function withRoom(t: TensorInput, axis: number, images: number, room: number): TensorInput {
  const dims = t.dims.map((n, i) => (i === axis ? room : n));
  const each = volume(t.dims.slice(axis));
  const length = images * volume(dims.slice(axis));
  const from = t.data as Float32Array;
  const isList = Array.isArray(t.data);
  const data = isList
    ? new Array<number>(length).fill(0)
    : new (from.constructor as new (n: number) => Float32Array)(length);
  for (let image = 0; image < images; image++) {
    const to = image * (length / images);
    if (isList) for (let i = 0; i < each; i++) data[to + i] = from[image * each + i];
    else (data as Float32Array).set(from.subarray(image * each, (image + 1) * each), to);
  }
  return { ...plain(t), data, dims, order: t.order ?? "rows" };
}

/** Returns a tensor's facts as a plain object: a runtime's tensor may have getters in place of fields. */
const plain = ({ name, type, scale, zeroPoint, axis }: TensorInput): Omit<TensorInput, "data" | "dims"> =>
  knownOf({ name, type, scale, zeroPoint, axis });
