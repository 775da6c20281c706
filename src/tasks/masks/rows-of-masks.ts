/** Finds the tensors of networks that output a finished mask for each finished detection. */
import { refuseFor } from "../../core/errors.ts";
import { type TensorSpec, isFloat, list } from "../../core/tensor.ts";
import { buildInterpretation, columnOf, decodedBoxes } from "../../heads/build.ts";
import { rows } from "../../heads/channels.ts";
import type { Interpretation, Specs, TaskPlan } from "../../heads/head.ts";
import { type TensorMatch, matchOne, mayPlay } from "../../heads/match.ts";
import type { HeadQuery } from "../../heads/query.ts";
import type { RowMaskPlace } from "./row-scene.ts";

/** The plan of a network with finished masks. */
export interface RowMaskPlan extends TaskPlan {
  readonly rowMasks: RowMaskPlace;
  /** Width and height of a map in cells. */
  readonly cells: readonly [number, number];
}

/** True for the plan of a network with finished masks. */
export const hasRowMasks = (task: TaskPlan): task is RowMaskPlan => "rowMasks" in task;

/** Largest side of a map that is pasted into its box. Maps of published networks have 14 to 33 cells per side. */
const MOST_BOX_CELLS = 64;

/** A tensor of maps: [N,1,h,w], [N,h,w] or [1,N,h,w]. */
interface Maps {
  readonly tensor: number;
  readonly count: number;
  readonly width: number;
  readonly height: number;
}

/** Returns every layout of a tensor as maps, one map per row. */
function mapsIn({ dims }: TensorSpec, tensor: number): Maps[] {
  const [height, width] = dims.slice(-2);
  if (dims.length === 3) return [{ tensor, count: dims[0], width, height }];
  if (dims.length !== 4 || (dims[0] !== 1 && dims[1] !== 1)) return [];
  return [{ tensor, count: dims[0] * dims[1], width, height }];
}

/** Returns the interpretations of a network with finished masks. Throws an error with the expected shapes if none. */
export function readRowMasks(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const place = query.traits.rowMasks as RowMaskPlace;
  const interpretations = specs.flatMap((spec, i) =>
    mapsIn(spec, i).flatMap((maps) => {
      const boxes = detectionsBeside(query, specs, maps);
      const isSmall = maps.width <= MOST_BOX_CELLS && maps.height <= MOST_BOX_CELLS;
      // torchvision's ONNX export pastes the masks itself: its maps cover the whole picture.
      const mayBeInput = !isSmall && hasSize(maps, "input", query.inputSize);
      const settled = place === "box" && mayBeInput ? "input" : place;
      if (!hasSize(maps, settled, query.inputSize)) return [];
      return boxes.map((one): Interpretation => {
        const about =
          settled === "box"
            ? `masks: one of ${maps.width}x${maps.height} for the box of each row`
            : `masks: one of ${maps.width}x${maps.height} for each row, of the whole input`;
        const task: RowMaskPlan = {
          name: "segment",
          notInFiles: true,
          about,
          tensors: [i],
          rowMasks: settled,
          cells: [maps.width, maps.height],
        };
        return { ...one, uses: [...one.uses, i], task };
      });
    }),
  );
  if (interpretations.length === 0)
    refuseFor(
      ["roles"],
      "segment",
      list(specs),
      `for ${query.family}: ${EXPECTED}; roles: {boxes, scores, classIds} name them where shapes do not tell`,
    );
  return interpretations;
}

/** True if the map's shape fits its place: a square for a box, the input's aspect ratio for the input. */
const hasSize = ({ width, height }: Maps, place: RowMaskPlace, inputSize: HeadQuery["inputSize"]): boolean =>
  place === "box" ? width === height : !inputSize || width * inputSize[1] === height * inputSize[0];

const EXPECTED =
  "boxes [N,4] + labels [N] + scores [N] + masks [N,1,28,28], or dets [1,N,5] + labels [1,N] + masks [1,N,h,w]";

/** Returns the interpretations of the other tensors as finished detections, one detection per map. */
function detectionsBeside(query: HeadQuery, specs: Specs, maps: Maps): Interpretation[] {
  const others = specs.map((spec, i) => (i === maps.tensor ? { ...spec, dims: [] } : spec));
  const columns = matchOne(others, rows, { count: 1, scores: 0 }).filter(
    ({ view }) => view.cells === maps.count && view.batch === 1,
  );
  const labels = columns.filter(({ tensors: [{ index }] }) => isLabels(query, specs[index]));
  const isRow = ({ view }: TensorMatch): boolean =>
    view.layout === "rows" && view.cells === maps.count && view.batch === 1;
  const scored = matchOne(others, rows, { count: 5, boxes: 0, scores: 4 }).filter(isRow);
  const bare = matchOne(others, rows, { count: 4, boxes: 0 }).filter(isRow);
  const scores = columns.filter(
    (column) => !labels.includes(column) && isFloat(specs[column.tensors[0].index]),
  );
  const matches = [
    ...scored,
    ...bare.flatMap((match) =>
      scores
        .filter(({ tensors: [{ name }] }) => mayPlay(query, "scores", name))
        .map((score) => ({ ...match, tensors: [...match.tensors, ...score.tensors], score: score.score })),
    ),
  ];
  return labels.flatMap((label) =>
    matches.map((match) => {
      const { index } = label.tensors[0];
      return buildInterpretation(query, {
        name: "end-to-end",
        title: "detections x1 y1 x2 y2, score, class",
        usual: null,
        fields: decodedBoxes(query, query.boxFormat ?? "xyxy", () => ({
          classes: 1,
          classId: columnOf(index),
        })),
        matches: [match],
        alsoUses: [index],
      });
    }),
  );
}

/** True if the tensor holds class ids: by role, else by element type, else by name. */
function isLabels({ roles }: HeadQuery, { name, type }: TensorSpec): boolean {
  if (roles?.classIds !== undefined) return name === roles.classIds;
  return !isFloat({ type }) || /label|class/i.test(name);
}
