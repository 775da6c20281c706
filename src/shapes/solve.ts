/** Finds the forms that tensors fit: assigns tensors to the parts of a form, and solves for the unknown counts. */
import type { FormRow, PartRow, Unknown } from "./form.ts";
import type { AllViews, OpenTensor, View } from "./views.ts";

/** Values of the unknown counts of a form, and the views of the tensors that fill its parts. */
export interface Match {
  readonly form: FormRow;
  readonly bound: { readonly [U in Unknown]?: number };
  /** Keypoints of an object: [count, values of one keypoint]. `null` if the form has no keypoints. */
  readonly points: readonly [number, 2 | 3] | null;
  readonly anchors: number;
  /** Row count. `null` if it is unknown, or differs between levels. */
  readonly n: number | null;
  readonly views: { readonly [part: string]: readonly View[] };
  /** Indices of the tensors that fill no part. */
  readonly left: readonly number[];
}

/** Keypoints of published networks: [count, values of one keypoint], 3 with a confidence and 2 without. */
const USUAL_POINTS: readonly (readonly [number, 2 | 3])[] = [
  [17, 3],
  [5, 2],
  [5, 3],
  [4, 2],
  [4, 3],
  [21, 3],
  [17, 2],
  [68, 2],
  [26, 3],
  [133, 3],
  [14, 3],
  [24, 3],
  [33, 3],
  [21, 2],
  [12, 2],
];

/** Facts known before the shapes are matched. */
export interface Known {
  readonly classes?: number | null;
  readonly keypoints?: readonly [number, number] | null;
}

type State = Omit<Match, "form" | "left"> & {
  readonly used: readonly number[];
  readonly sizes: string | null;
};

const NOTHING: State = { bound: {}, points: null, anchors: 1, n: null, views: {}, used: [], sizes: null };

/** Returns every way to assign the tensors to the parts of a form. */
export function matches(
  form: FormRow,
  tensors: readonly OpenTensor[],
  views: AllViews,
  known: Known,
): Match[] {
  const parts = Object.entries(form.parts);
  const least = parts.filter(([, part]) => !part.isOptional).length;
  if (tensors.length < least) return [];
  const hasClasses = parts.some(([, { channels }]) => channels.includes("C"));
  const bound = hasClasses && form.classes === 1 ? { C: 1 } : {};
  const start = (form.anchors ?? [1]).map((anchors) => ({ ...NOTHING, bound, anchors }));
  // Fill the parts one by one. For an optional part, `play` also returns the state without it, as the last one.
  const states = parts.reduce<State[]>(
    (some, [name, part]) => some.flatMap((state) => play(form, name, part, state, tensors, views, known)),
    start,
  );
  return states.flatMap(({ used, sizes: _, ...state }) => {
    const left = tensors.flatMap((_t, i) => (used.includes(i) ? [] : [i]));
    // Accept unassigned tensors beside rows of all cells: YOLOv5's old exporter also outputs its raw maps.
    const mayStand =
      (["cells", "anchors"].includes(form.rows) && !form.isWhole) ||
      left.every((i) => form.beside?.test(tensors[i].name));
    const isInOrder = used.every((tensor, i) => i === 0 || tensor > used[i - 1]);
    return mayStand && (isInOrder || !form.isInOrder) ? [{ ...state, form, left }] : [];
  });
}

/** Returns the states that follow if a tensor, or one tensor for each level, fills the part. */
function play(
  form: FormRow,
  name: string,
  part: PartRow,
  state: State,
  tensors: readonly OpenTensor[],
  views: AllViews,
  known: Known,
): State[] {
  const free = views
    .flatMap((view, i) => (state.used.includes(i) || !mayHold(part, tensors[i]) ? [] : view[part.see]))
    .filter(fits(part));
  // If tensors have the part's usual name, try only those.
  const named = part.name ? free.filter(({ tensor }) => part.name?.test(tensors[tensor].name)) : [];
  const candidates = named.length > 0 || (form.isNamed && part.name && !part.isOptional) ? named : free;
  const found = part.perLevel
    ? playLevels(form, name, part, state, candidates, known)
    : candidates.flatMap((view) => {
        const isSame = part.apart || state.n === null || view.n === null || view.n === state.n;
        if (!isSame) return [];
        const n = part.apart ? state.n : (state.n ?? view.n);
        return solveChannels(form, part, view.k, state, known).map((solved) => ({
          ...solved,
          n,
          views: { ...state.views, [name]: [view] },
          used: [...state.used, view.tensor],
        }));
      });
  return part.isOptional ? [...found, state] : found;
}

function mayHold({ holdsIds, isFloat }: PartRow, { type }: OpenTensor): boolean {
  const isWhole = type === null || type === "i32";
  return (!holdsIds || isWhole) && (!isFloat || !isWhole);
}

const fits =
  ({ order, rank }: PartRow) =>
  (view: View): boolean =>
    (order === undefined || view.k === 1 || view.isInterleaved === (order === "rows")) &&
    (rank === undefined || view.rank === rank);

/** Returns the states in which each level has a tensor of the part, all with the same storage order and channels. */
function playLevels(
  form: FormRow,
  name: string,
  part: PartRow,
  state: State,
  candidates: readonly View[],
  known: Known,
): State[] {
  const [fewest, most] = form.levels ?? [2, 6];
  const kinds = new Map<string, View[]>();
  for (const view of candidates) {
    const kind = `${view.k} ${view.k === 1 ? "" : view.isInterleaved}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), view]);
  }
  return [...kinds.values()].flatMap((all) => {
    const levels = oneForEachSize(all, state.sizes);
    if (levels === null || levels.length < fewest || levels.length > most) return [];
    return solveChannels(form, part, levels[0].k, state, known).map((solved) => ({
      ...solved,
      views: { ...state.views, [name]: levels },
      used: [...state.used, ...levels.map(({ tensor }) => tensor)],
      sizes: sizesOf(levels),
    }));
  });
}

const sizesOf = (levels: readonly View[]): string => levels.map(({ n }) => n).join();

/** Returns one view for each map size, the largest first. Returns `null` if `sizes` is known and differs. */
function oneForEachSize(all: readonly View[], sizes: string | null): View[] | null {
  // If no map size is known, assume that the tensors are in the order of the levels.
  if (all.every(({ n }) => n === null)) return sizes === null || sizes === sizesOf(all) ? [...all] : null;
  const bySize = new Map<number, View>();
  const used = new Set<number>();
  for (const view of [...all].sort((a, b) => (b.n ?? 0) - (a.n ?? 0)))
    if (view.n !== null && !bySize.has(view.n) && !used.has(view.tensor)) {
      bySize.set(view.n, view);
      used.add(view.tensor);
    }
  const wanted = sizes?.split(",").map(Number) ?? null;
  const levels = [...bySize.values()].filter(({ n }) => wanted === null || wanted.includes(n as number));
  return wanted === null || sizesOf(levels) === sizes ? levels : null;
}

/** Returns the states with values for the unknowns of a part, so that its terms add up to `k` channels. */
function solveChannels(form: FormRow, part: PartRow, k: number, state: State, known: Known): State[] {
  const isRepeated = form.anchors !== undefined && part.see === "map" && part.channels.includes("C");
  const total = isRepeated ? k / state.anchors : k;
  if (!Number.isInteger(total)) return [];
  const terms = part.channels.length === 0 ? [1] : part.channels;
  let rest = total;
  const open: Unknown[] = [];
  for (const term of terms) {
    const value = typeof term === "number" ? term : state.bound[term];
    if (value === undefined) open.push(term as Unknown);
    else rest -= value;
  }
  if (open.length === 0) return rest === 0 ? [state] : [];
  if (!open.includes("P")) return open.length === 1 && rest > 0 ? [bind(state, open[0], rest)] : [];
  const kinds = known.keypoints
    ? [known.keypoints as readonly [number, 2 | 3]]
    : (form.points ?? USUAL_POINTS);
  const others = open.filter((term) => term !== "P");
  return kinds.flatMap((points) => {
    const values = points[0] * points[1];
    const withPoints = { ...bind(state, "P", values), points };
    if (others.length === 0) return rest === values ? [withPoints] : [];
    return others.length === 1 && rest > values ? [bind(withPoints, others[0], rest - values)] : [];
  });
}

const bind = (state: State, unknown: Unknown, value: number): State => ({
  ...state,
  bound: { ...state.bound, [unknown]: value },
});
