/**
 * Reads tensor forms that only pose and face networks have. A form is one way to distribute boxes, scores and points
 * over tensors. `read.ts` handles the other networks, whose boxes have the layout of a detector without points.
 */
import { interpret } from "../../heads/interpret.ts";
import type { PointShape } from "../../core/keypoints.ts";
import type { FamilyTraits } from "../../core/family.ts";
import { yunetPriors } from "../../core/built-priors.ts";
import type { PoseForm } from "../../core/pose-families.ts";
import { type TensorSpec, volume } from "../../core/tensor.ts";
import { buildInterpretation, decodedBoxes, each, unitOf } from "../../heads/build.ts";
import { type Column, beside, move, rows } from "../../heads/channels.ts";
import { columnOf, joinExtra, matchOfViews, type TensorView } from "../../heads/extra.ts";
import { type Grid, gridsOf } from "../../shapes/grids.ts";
import type { HeadDraft, Interpretation, Specs } from "../../heads/head.ts";
import { type TensorMatch, join, matchOne, playersOf, preferred } from "../../heads/match.ts";
import type { CountedQuery, HeadQuery } from "../../heads/query.ts";
import type { Form, Formed } from "./form.ts";
import { queryPoints } from "./query-points.ts";
import { scrfdMaps } from "./face-maps.ts";

const volumeOf = ([count, values]: PointShape): number => count * values;

const withPoints = (
  interpretation: Interpretation,
  extraOf: (head: HeadDraft) => Column,
): Interpretation => ({
  ...interpretation,
  heads: interpretation.heads.map((head) => ({ ...head, extra: extraOf(head) })),
});

/** Returns the query with a class count: the stated one, else 1. */
const withClassCount = (query: HeadQuery): CountedQuery => ({ ...query, classes: query.classes ?? 1 });

/** Reads BlazeFace and MediaPipe's palms. The points follow the four box channels, as offsets from the prior. */
const afterBoxes: Form = {
  read: (query, specs, [count]) =>
    interpret(query, specs).flatMap((interpretation): Formed[] => {
      const [{ box, cells }] = interpretation.heads;
      const channels = volume(specs[box.tensor].dims) / interpretation.batch / cells - 4;
      if (channels !== count * 2) return [];
      const shape = [count, 2] as const;
      return [
        {
          interpretation: withPoints(interpretation, (head) => beside(head.box, 4)),
          shape,
          rule: "prior",
          logits: false,
        },
      ];
    }),
  expected: (_, [count]) =>
    `[1,N,${4 + count * 2}] + [1,N,1] with inputSize, and ${count} points of two values`,
};

const face: Form = {
  read: (query, specs, shape) => [...faceRows(query, specs, shape), ...faceMaps(query, specs, shape)],
  expected: (query, shape) => {
    const channels = 5 + volumeOf(shape) + withClassCount(query).classes;
    const anchors = query.anchorSets?.map((set) => set.anchors.length) ?? [];
    const perMap = anchors.map((count) => `[1,${count} x ${channels},h,w]`).join(", ") || "raw maps";
    return `decoded rows [1,N,${channels}]; ${perMap} (anchors: got ${anchors.length || "none"}, one list for each map)`;
  },
};

/** Reads rows of YOLOv5-face. The export has decoded all channels. */
function faceRows(query: HeadQuery, specs: Specs, shape: PointShape): Formed[] {
  const { classes } = withClassCount(query);
  const points = volumeOf(shape);
  const matches = matchOne(specs, rows, {
    count: 5 + points + classes,
    boxes: 0,
    objectness: 4,
    scores: 5 + points,
  });
  return each(
    withClassCount(query),
    {
      name: "objectness-rows",
      title: "boxes, objectness, points, classes",
      usual: "probabilities",
      fields: decodedBoxes(query),
    },
    matches,
  ).map((interpretation) => ({
    interpretation: withPoints(interpretation, ({ box }) => beside(box, 5)),
    shape,
    rule: "decoded",
    logits: false,
  }));
}

/** Reads raw maps of YOLOv5-face. */
function faceMaps(query: HeadQuery, specs: Specs, shape: PointShape): Formed[] {
  const points = volumeOf(shape);
  const traits: FamilyTraits = { ...query.traits, exports: ["anchor-maps"], raw: "logits" };
  const interpretations = interpret(
    { ...withClassCount(query), traits },
    specs.map((spec) => ({ ...spec, extra: points })),
  );
  // Drop interpretations without a class channel (rule "objectness"): this network has a class channel even for one
  // class.
  const whole = interpretations.filter(({ heads: [{ rule }] }) => rule !== "objectness");
  return whole.map(({ heads, ...reading }) => ({
    // Correct score and points: `interpret` read the channels after the objectness as classes.
    interpretation: {
      ...reading,
      heads: heads.map((head) => ({
        ...head,
        score: beside(head.box, 5 + points),
        extra: beside(head.box, 5),
      })),
    },
    shape,
    rule: "grid",
    logits: true,
    byAnchor: true,
  }));
}

/** The tensors of one feature map: one level of the pyramid. */
interface Level {
  readonly grid: Grid;
  readonly scores: readonly Column[];
  readonly boxes: Column;
  /** Column of the points. Absent if the network outputs only boxes. */
  readonly points?: Column;
  readonly match: TensorMatch;
}

/**
 * Returns the tensors of each level: boxes, points, and `scores` tensors of one channel, with `anchors` rows per cell.
 * Returns `null` if a level lacks one of them.
 */
function levelsOf(
  query: HeadQuery,
  specs: Specs,
  points: number | null,
  { anchors, scores }: { readonly anchors: number; readonly scores: number },
): Level[] | null {
  const levels = gridsOf(query, [8, 16, 32]).map((grid): Level | null => {
    const viewsOf = (channels: number): readonly TensorView[] =>
      preferred<TensorView>(
        specs.flatMap((spec, index) =>
          rows(spec, channels)
            .filter(({ cells, layout }) => cells === grid.cells * anchors && layout === "rows")
            .map((view) => ({ ...view, index, spec })),
        ),
        // Prefer tensors whose last dimension is the channel count: one row of 4 values has the size of four rows of 1.
        ({ spec: { dims } }) => dims[dims.length - 1] === channels,
      );
    const scoreViews = viewsOf(1).filter(({ batch }, _, all) => batch === all[0].batch);
    const [boxes, secondBoxes] = viewsOf(4);
    const [point, secondPoint] = points === null ? [] : viewsOf(points);
    const lacksPoints = points !== null && (!point || secondPoint);
    if (scoreViews.length !== scores || !boxes || secondBoxes || lacksPoints) return null;
    const match = matchOfViews(boxes, scoreViews, { ...boxes, w: grid.w, h: grid.h, cells: grid.cells });
    const scoreColumns = scoreViews.map(columnOf);
    return { grid, scores: scoreColumns, boxes: match.box, ...(point && { points: columnOf(point) }), match };
  });
  const whole = levels.filter((level) => level !== null);
  return whole.length > 0 && whole.length === levels.length ? whole : null;
}

/**
 * Reads SCRFD: for each level, rows of scores, of distances and of points. A cell has one row, or two adjacent rows.
 * Networks without "kps" in their name have no points.
 */
const anchorRows: Form = {
  read: (query, specs, shape) => {
    const points = volumeOf(shape);
    const withAny = specs.some(({ dims }) => dims[dims.length - 1] === points);
    const found = [1, 2].flatMap((anchors) =>
      anchorLevels(query, specs, anchors, shape, withAny ? points : null),
    );
    return found.length > 0 ? found : scrfdMaps(query, specs, shape);
  },
  expected: (_, shape) =>
    `[1,2hw,1] + [1,2hw,4] + [1,2hw,${volumeOf(shape)}] for each of strides 8, 16, 32, with inputSize, or ` +
    `[1,2,h,w] + [1,8,h,w] + [1,${2 * volumeOf(shape)},h,w]`,
};

/** Reads SCRFD with `anchors` rows per cell. `points`: count of channels of points, `null` for boxes alone. */
function anchorLevels(
  query: HeadQuery,
  specs: Specs,
  anchors: number,
  shape: PointShape,
  points: number | null,
): Formed[] {
  const levels = levelsOf(query, specs, points, { anchors, scores: 1 });
  if (!levels) return [];
  const parts = levels.flatMap((level) =>
    Array.from({ length: anchors }, (_, a) => {
      const rowsOfAnchor = (column: Column): Column => ({
        ...move(column, a * column.cell),
        cell: column.cell * anchors,
      });
      const { match } = level;
      return {
        ...match,
        box: rowsOfAnchor(match.box),
        score: rowsOfAnchor(match.score),
        points: level.points && rowsOfAnchor(level.points),
      };
    }),
  );
  const interpretation = buildInterpretation(withClassCount(query), {
    name: "anchor-grid",
    title: `distances from the cell's left upper corner${points === null ? "" : ", points"}`,
    usual: "probabilities",
    // SCRFD measures distances and points from the upper left corner of the cell, not from its centre.
    fields: (part: (typeof parts)[number]) => ({
      kind: "distance",
      rule: "class",
      ...(part.points && { extra: part.points }),
    }),
    matches: levels.map(({ match }) => match),
    parts,
    alsoUses: levels.flatMap((level) => level.points?.tensor ?? []),
  });
  return [
    { interpretation, shape, rule: "grid", logits: false, ...(points === null && { lacksPoints: true }) },
  ];
}

/** Reads YuNet: the networks since 2023, and the networks of 2022. */
const yunet: Form = {
  read: (query, specs, shape) => [...pointRows(query, specs, shape), ...facePriors(query, specs, shape)],
  expected: (query, shape) => {
    const points = volumeOf(shape);
    const rowCount = query.inputSize ? yunetPriors(query.inputSize).length / 4 : "N";
    return (
      `[1,hw,1] + [1,hw,1] + [1,hw,4] + [1,hw,${points}] for each of strides 8, 16, 32, with inputSize; ` +
      `of 2022 [${rowCount},${4 + points}] + [${rowCount},2] + [${rowCount},1], with inputSize`
    );
  },
};

/** Reads YuNet since 2023: for each level, rows of class, objectness, box and points, one row per cell. */
function pointRows(query: HeadQuery, specs: Specs, shape: PointShape): Formed[] {
  const levels = levelsOf(query, specs, volumeOf(shape), { anchors: 1, scores: 2 });
  if (!levels) return [];
  const parts = levels.map((level) => ({ ...level.match, points: level.points as Column }));
  const interpretation = buildInterpretation(withClassCount(query), {
    name: "point-grid",
    title: "point grids with points",
    usual: "probabilities",
    fields: (part: (typeof parts)[number]) => ({
      rule: "product",
      whFn: "exp",
      size: unitOf(query, part),
      extra: part.points,
    }),
    matches: levels.map(({ match }) => match),
    parts,
    alsoUses: parts.map(({ points }) => points.tensor),
  });
  return [{ interpretation, shape, rule: "grid", logits: false, root: true }];
}

/** Factors on the offsets of YuNet of 2022. Those of width and height differ: OpenCV's face_detect.cpp of 2022. */
const YUNET_VARIANCES = [0.1, 0.1, 0.1, 0.2] as const;

/**
 * Reads YuNet of 2022: for each prior, box and points, scores of background and face, and the predicted IoU. The score
 * is the root of face score x IoU, with the IoU clamped to 0..1.
 */
function facePriors(query: HeadQuery, specs: Specs, shape: PointShape): Formed[] {
  if (!query.inputSize) return [];
  const priors = yunetPriors(query.inputSize);
  const boxes = matchOne(playersOf(query, specs, "boxes"), rows, { count: 4 + volumeOf(shape), boxes: 0 });
  const mine = boxes.filter(({ view }) => view.cells === priors.length / 4);
  const scored = join(query, specs, mine, "scores", rows, 2);
  const matches = join(query, specs, scored, "objectness", rows, 1);
  const reading = {
    name: "prior-rows",
    title: "offsets from priors with points, background and face, IoU",
    usual: "probabilities",
    fields: ({ box, score }: TensorMatch): Partial<HeadDraft> => ({
      kind: "prior",
      rule: "product",
      score: beside(score, 1),
      objectnessFn: "clamp",
      whFn: "exp",
      unit: [1, 1],
      priors,
      variances: YUNET_VARIANCES,
      extra: beside(box, 4),
    }),
  } as const;
  return each(withClassCount(query), reading, matches).map((interpretation) => ({
    interpretation,
    shape,
    rule: "prior",
    logits: false,
    root: true,
  }));
}

/** Reads MoveNet's [1,1,17,3]: y, x, confidence of each point. There is one person and no box. */
const onePose: Form = {
  read: (query, specs, shape) => {
    const points = volumeOf(shape);
    const [count, values] = shape;
    const hasPose = ({ dims }: TensorSpec): boolean =>
      dims.slice(-2).join() === `${count},${values}` && volume(dims) === dims[0] * points;
    return readPoses(query, specs, shape, {
      // A head needs a box and a score. Use the first keypoint for both. `fillOne` of points.ts replaces them later.
      channels: points,
      at: { box: 0, score: 2 },
      fields: { kind: "centre", boxChannels: [1, 0, 2, 2] },
      specOf: (spec) =>
        hasPose(spec) ? { ...spec, dims: [spec.dims[0], 1, points] } : { ...spec, dims: [] },
    }).map((formed) => ({ ...formed, alone: true }));
  },
  expected: (_, [count, values]) => `[1,1,${count},${values}]`,
};

/** Reads MoveNet's [1,6,56]: y, x, confidence of each point, y1, x1, y2, x2 of the box, the score. */
const manyPoses: Form = {
  read: (query, specs, shape) => {
    const points = volumeOf(shape);
    return readPoses(query, specs, shape, {
      channels: points + 5,
      at: { box: points, score: points + 4 },
      fields: { kind: "corners", boxChannels: [1, 0, 3, 2] },
      specOf: (spec) => spec,
    });
  },
  expected: (_, shape) => `[1,N,${volumeOf(shape) + 5}]`,
};

/** Reads rows of decoded poses in one tensor, with y before x. `specOf` gives a tensor the dims [batch,N,channels]. */
function readPoses(
  query: HeadQuery,
  specs: Specs,
  shape: PointShape,
  layout: {
    readonly channels: number;
    readonly at: { readonly box: number; readonly score: number };
    readonly fields: Partial<HeadDraft>;
    readonly specOf: (spec: TensorSpec) => TensorSpec;
  },
): Formed[] {
  const { channels, at, fields } = layout;
  const matches = matchOne(specs.map(layout.specOf), rows, {
    count: channels,
    boxes: at.box,
    scores: at.score,
  });
  return each(
    withClassCount(query),
    {
      name: "postprocess",
      title: "points of persons",
      usual: null,
      fields: () => ({ unit: [1, 1], ...fields }),
    },
    matches.filter(({ view }) => view.layout === "rows"),
  ).map((interpretation) => ({
    interpretation: withPoints(interpretation, ({ box }) => beside(box, -at.box)),
    shape,
    rule: "decoded",
    logits: false,
    yFirst: true,
  }));
}

/** Reads mmdeploy's RTMO: [1,N,5] corners in pixels and score, [1,N,K,3] points, suppressed already. */
const boxesAndPoints: Form = {
  read: (query, specs, [count, values]) => {
    const isPoints = ({ dims }: TensorSpec): boolean =>
      dims.length === 4 && dims.slice(2).join() === `${count},${values}`;
    const flat = specs.map((spec) =>
      isPoints(spec)
        ? { ...spec, dims: [...spec.dims.slice(0, 2), count * values], order: "rows" as const }
        : { ...spec, dims: [] },
    );
    const boxes = specs.map((spec) => (isPoints(spec) ? { ...spec, dims: [] } : spec));
    const matches = matchOne(boxes, rows, { count: 5, boxes: 0, scores: 4 });
    return each(
      withClassCount(query),
      {
        name: "postprocess",
        title: "boxes and points of persons",
        usual: null,
        fields: decodedBoxes(query, "xyxy"),
      },
      matches.filter(({ view }) => view.layout === "rows"),
    ).flatMap((interpretation): Formed[] => {
      const joined = joinExtra(interpretation, flat, count * values, () => true);
      return joined
        ? [{ interpretation: joined, shape: [count, values], rule: "decoded", logits: false }]
        : [];
    });
  },
  expected: (_, [count, values]) =>
    `dets [1,N,5] and keypoints [1,N,${count},${values}], as mmdeploy exports them`,
};

export const FORMS: { readonly [F in PoseForm]: Form } = {
  "after-boxes": afterBoxes,
  face,
  "anchor-rows": anchorRows,
  "part-maps": yunet,
  "one-pose": onePose,
  poses: manyPoses,
  "boxes-and-points": boxesAndPoints,
  "query-points": queryPoints,
};
