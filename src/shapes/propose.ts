/** Proposes families for a network, the likeliest first. If no family fits, describes the kind of network. */
import type { DecoderOptions, Roles } from "../config/types.ts";
import { FAMILIES, representativeOf, TRAITS } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import { otherRelease } from "../core/family-names.ts";
import { SSD_PRIORS } from "./counts.ts";
import { familiesNamed, pointsOf, tasksNamed } from "./evidence.ts";
import type { FormRow, PartRow } from "./form.ts";
import { FINISHED_FORMS } from "./forms/lists.ts";
import { MAP_FORMS } from "./forms/maps.ts";
import { POINT_FORMS } from "./forms/points.ts";
import { PRIOR_FORMS, QUERY_FORMS } from "./forms/queries.ts";
import { ROW_FORMS } from "./forms/rows.ts";
import { otherByName, otherByShape } from "./none.ts";
import type { Asked } from "./rule.ts";
import { type Known, type Match, matches } from "./solve.ts";
import { type OpenTensor, viewsOf } from "./views.ts";

/** One possible config for a network. */
export interface Proposal {
  readonly options: DecoderOptions & { readonly family: Family };
  /** Families that decode the tensors in this way. The family of `options` comes first. */
  readonly families: readonly Family[];
  /** Class count. `null` if a column or tensor holds class ids and the caller does not state the count. */
  readonly classes: number | null;
  /** Anchor count of each map. `null` for networks without anchors. */
  readonly anchors: readonly number[] | null;
  readonly points: number;
  readonly match: Match;
}

/** The answer to a question about a network. */
export interface Answer {
  readonly proposals: readonly Proposal[];
  /** Description of a network that no family decodes; `null` if there are proposals. */
  readonly looksLike: string | null;
}

const TABLE: readonly FormRow[] = [
  ...ROW_FORMS,
  ...MAP_FORMS,
  ...FINISHED_FORMS,
  ...QUERY_FORMS,
  ...PRIOR_FORMS,
  ...POINT_FORMS,
];

/** Every form, in no order. A family without rows in the table gets the forms of the family that it looks like. */
export const FORM_ROWS: readonly FormRow[] = [
  ...TABLE,
  ...FAMILIES.filter((family) => !TABLE.some(({ families }) => families.includes(family))).flatMap((family) =>
    TABLE.filter(({ families }) => families.includes(representativeOf(family))).map((form) =>
      formOfLookalike(form, family),
    ),
  ),
];

/** Returns the form for another family with the same outputs. Adds the family's ignored channels after the classes. */
function formOfLookalike(form: FormRow, family: Family): FormRow {
  const ignored = TRAITS[family].ignored ?? 0;
  const channels = (all: PartRow["channels"]): PartRow["channels"] =>
    all.flatMap((term) => (term === "C" && ignored > 0 ? [term, ignored] : [term]));
  const parts = Object.entries(form.parts).map(([name, part]) => [
    name,
    { ...part, channels: channels(part.channels) },
  ]);
  return {
    ...form,
    families: [family],
    isLookalike: true,
    parts: Object.fromEntries(parts) as FormRow["parts"],
  };
}

/** Facts about a network from the caller: the shapes, and optional ones. */
export interface Question {
  readonly tensors: readonly OpenTensor[];
  readonly inputs?: Asked["inputs"];
  readonly inputSize?: readonly [number, number] | null;
  /** Names that may contain a family, such as the name of the file and the description in the file. */
  readonly names?: readonly string[];
  readonly options?: DecoderOptions;
  readonly known?: Known;
}

/** Lowest evidence score (see `pointsOf`) of a proposal. */
const FEWEST = 2;

/** A proposal is dropped if the best proposal scores higher by at least this difference. */
const MOST_BEHIND = 4;

/** Returns the proposals for a network, the likeliest first. */
export function propose(of: Question): Answer {
  const { inputs = [], inputSize = null, names = [], options = {}, known = {} } = of;
  const tensors = unflattened(of.tensors, options.roles?.priors);
  const asked: Asked = {
    tensors,
    inputs,
    inputSize,
    named: familiesNamed([...tensors.map(({ name }) => name), ...names]),
    tasks: tasksNamed(names),
    classes: known.classes ?? null,
    isOption: options.classes !== undefined || options.labels !== undefined,
    isFamilyStated: options.family !== undefined,
  };
  const views = viewsOf(tensors);
  const all = FORM_ROWS.filter(mayBe(options)).flatMap((form) => matches(form, tensors, views, known));
  // Ignore a family's name if no form of that family fits: the name may be that of a post-processor.
  const isNamed = (one: Asked): boolean =>
    all.some((match) => isOfNamed(match, one) && pointsOf(match, one) !== null);
  const question = [asked, { ...asked, named: asked.named.map(otherRelease) }].find(isNamed) ?? {
    ...asked,
    named: [],
  };
  const found = all.flatMap((match): Proposal[] => {
    const points = pointsOf(match, question);
    return points === null || points < FEWEST ? [] : [proposalOf(match, points, question, options)];
  });
  found.sort((a, b) => b.points - a.points);
  const other = options.family === undefined ? otherByName(withoutExtras(asked, found)) : null;
  if (other !== null && !found.some(isCertain)) return { proposals: [], looksLike: other };
  const differing = distinct(found);
  const best = differing.filter(({ points }) => points > differing[0].points - MOST_BEHIND);
  return { proposals: best, looksLike: best.length > 0 ? null : (other ?? otherByShape(asked)) };
}

/** True if a name of the file or of a tensor contains a family of the form. */
const isOfNamed = ({ form }: Match, { named }: Asked): boolean =>
  form.families.some((family) => named.includes(family));

/**
 * Reshapes Caffe's flat box offsets and scores into rows, if a tensor of priors gives the row count. Without priors,
 * there must be only two tensors, whose lengths fit a published SSD network.
 */
function unflattened(tensors: readonly OpenTensor[], priors?: string): readonly OpenTensor[] {
  const lengths = tensors.map(({ dims }) => dims.reduce<number>((product, d) => product * (d ?? NaN), 1));
  const at = tensors.findIndex(({ name }) => name === priors || (!priors && /prior/i.test(name)));
  const published = tensors.length === 2 ? SSD_PRIORS : [];
  const rows = (at < 0 ? published : [8, 4].map((values) => lengths[at] / values)).find((n) =>
    lengths.includes(4 * n),
  );
  if (rows === undefined) return tensors;
  const isFlat = ({ dims }: OpenTensor, i: number): boolean =>
    i !== at && dims.filter((d) => d !== 1).length === 1 && lengths[i] % rows === 0;
  if (at < 0 && !tensors.every(isFlat)) return tensors;
  return tensors.map((tensor, i) =>
    i === at
      ? { ...tensor, name: "priors" }
      : isFlat(tensor, i)
        ? { ...tensor, dims: [1, rows, lengths[i] / rows] }
        : tensor,
  );
}

const mayBe =
  ({ family, task }: DecoderOptions) =>
  ({ families, task: own }: FormRow): boolean =>
    (family === undefined || families.includes(family)) && (task === undefined || task === own);

/** Lowest score of a best proposal for which `withoutExtras` ignores the names of extra outputs. */
const FEWEST_TO_EXPLAIN = 6;

/** Returns the network without unread outputs that the best proposal's form knows by name (DETR's hidden states). */
function withoutExtras(asked: Asked, [best]: readonly Proposal[]): Asked {
  if (best === undefined || best.points < FEWEST_TO_EXPLAIN) return asked;
  const { form, left } = best.match;
  const isExtra = (name: string, i: number): boolean => left.includes(i) && form.beside?.test(name) === true;
  return { ...asked, tensors: asked.tensors.filter(({ name }, i) => !isExtra(name, i)) };
}

/** True if the rows are surely the cells of a known input, so that the names in `otherByName` do not count. */
const isCertain = ({ points, match: { form } }: Proposal): boolean =>
  points >= 7 && ["cells", "anchors"].includes(form.rows);

/** Drops each proposal that a likelier proposal equals in options, classes, anchors and unused tensors. */
function distinct(proposals: readonly Proposal[]): Proposal[] {
  const keys = new Set<string>();
  return proposals.filter(({ options, classes, anchors, match: { left } }) => {
    const { family, task, keypoints, reading } = options;
    const key = JSON.stringify([family, classes, task, keypoints, reading, anchors, left]);
    return !keys.has(key) && keys.add(key);
  });
}

/** Returns the config for a match. */
function proposalOf(
  match: Match,
  points: number,
  { named, tensors }: Asked,
  options: DecoderOptions,
): Proposal {
  const { form, bound, views } = match;
  const { families } = form;
  const family = options.family ?? families.find((one) => named.includes(one)) ?? families[0];
  const told = classesOf(match, tensors);
  // Take the class count from the caller if the shapes do not state it.
  const classes = told ?? options.classes ?? null;
  const place = views.points?.[0];
  const keypoints = form.pointsIn && place ? form.pointsIn(place.k, place.w, classes ?? 1) : match.points;
  const isTold = form.task === "pose" || form.pointsIn !== undefined || form.points !== undefined;
  const hasPoints = keypoints !== null && isTold;
  const roles = TRAITS[family].head === "plain" ? rolesOf(match, tensors) : rolesOfTwins(match, tensors);
  const levels = Object.values(views).find((list) => list.length > 1) ?? Object.values(views)[0];
  return {
    options: {
      family,
      ...(classes !== null && { classes }),
      ...(form.task && form.task !== "text" && { task: form.task }),
      ...(hasPoints && { keypoints }),
      ...(bound.M !== undefined && bound.M !== 32 && { maskCoefficients: bound.M }),
      ...(Object.keys(roles).length > 0 && { roles }),
      ...form.options,
    },
    families: options.family ? [family] : [family, ...families.filter((one) => one !== family)],
    classes,
    anchors: form.anchors
      ? levels.map(() => match.anchors)
      : form.parts.boxes?.see === "anchors"
        ? levels.map(() => 3)
        : null,
    points,
    match,
  };
}

/** Returns the tensor name of each role, or a list of names. Omits tensors that decoders recognise by name. */
function rolesOf({ form, views }: Match, tensors: readonly OpenTensor[]): Roles {
  const roles: { [role: string]: string | readonly string[] } = {};
  for (const [part, { role }] of Object.entries(form.parts)) {
    if (!role || !views[part]) continue;
    const { name } = tensors[views[part][0].tensor];
    if (form.areKnownNames && form.parts[part].name?.test(name)) continue;
    roles[role] = roles[role] === undefined ? name : [roles[role], name].flat();
  }
  return roles;
}

/** Returns the tensor names of boxes and scores if an unread tensor, such as an auxiliary head, has the same shape. */
function rolesOfTwins({ form, views, left }: Match, tensors: readonly OpenTensor[]): Roles {
  if (form.task !== undefined || !views.boxes) return {};
  const shapeOf = (i: number): string => tensors[i].dims.join();
  const extras = left.filter((i) => !form.beside?.test(tensors[i].name));
  const others = [...extras, ...(views.sums ?? []).map(({ tensor }) => tensor)].map(shapeOf);
  const read = [views.boxes, ...(views.scores ? [views.scores] : [])];
  if (!read.flat().some(({ tensor }) => others.includes(shapeOf(tensor)))) return {};
  const [boxes, scores] = read.map((part) => {
    const names = part.map(({ tensor }) => tensors[tensor].name);
    return names.length > 1 ? names : names[0];
  });
  return scores === undefined ? { boxes } : { boxes, scores };
}

/** Count of score columns if the column index is the original COCO id, 0..90. */
const COCO_COLUMNS = 91;

/** Returns the class count that follows from the shapes. Returns `null` if a column or a tensor holds class ids. */
function classesOf({ form, bound, views }: Match, tensors: readonly OpenTensor[]): number | null {
  if (form.classesIn) return form.classesIn(bound.X ?? 0, tensors[Object.values(views)[0][0].tensor].type);
  if (form.classes !== undefined) return form.classes;
  if (bound.C === undefined) return null;
  // RF-DETR's last column was never trained, unless there is one column for each of COCO's ids.
  if (form.isLastUntrained) return bound.C === COCO_COLUMNS || bound.C === 1 ? bound.C : bound.C - 1;
  return bound.C - (form.others ?? 0);
}
