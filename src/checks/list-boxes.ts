/**
 * Checks all boxes of a list that a network always fills. Below the rows of objects, the list has boxes with low scores
 * all over the picture.
 */
import type { Moment } from "./check.ts";
import { READINGS } from "../core/readings.ts";
import { move } from "../heads/channels.ts";
import { type PlanInMemory, valueIn } from "../decode/values.ts";
import { IF_SIZES } from "./boxes.ts";

/** Smallest count of filled rows for a conclusion. A list that contains only objects seldom has so many. */
const FEWEST_ROWS = 100;
/** Smallest count of queries for a conclusion. With fewer, every box may be large and near the upper left corner. */
const FEWEST_QUERIES = 25;
/** Largest count of rows that are read. Some exports list every cell of the network, in the order of the cells. */
const MOST_ROWS = 1000;
/** Fraction of the input's sides within which no trained network has the centres of all rows. */
const QUARTER = 0.52;
/** If all centres lie in this fraction of the sides, boxes are 0..1 or not decoded. Other checks find that. */
const CORNER = 0.1;
/** Smallest fraction of wrong rows for a note. In recorded networks, 4 % of the rows reach far over an edge. */
const MANY = 0.12;
/** A centre beyond this fraction of the sides lies outside of the input. */
const OUTSIDE = 1.02;
/** An edge of a box beyond this fraction of the sides lies far outside of the input. */
const OVER_EDGE = 1.05;

/** Returns a note if the boxes of a list contradict the stated input size or `boxFormat`. */
export function noteOfListBoxes({ work }: Moment<PlanInMemory>): string | null {
  const { reading, heads, inputSize, inPhoto } = work.plan;
  const [{ about, kind, unit }] = heads;
  const areQueries = READINGS[reading].cells === "list";
  const sides = unit[0] === 1 ? ([1, 1] as const) : inputSize;
  if ((!areQueries && reading !== "end-to-end") || inPhoto || !sides) return null;
  if (!["topleft", "centre", ...(areQueries ? [] : ["corners"])].includes(kind)) return null;
  const { rows, growing, inverted, outside, over, most } = measureRows(work, sides);
  if (rows < (areQueries ? FEWEST_QUERIES : FEWEST_ROWS)) return null;
  const noteOf = (count: number, fault: string): string =>
    `${count === rows ? "all" : `${count} of`} ${rows} boxes of ${about} ${fault}`;
  if (kind !== "corners") {
    const start = kind === "centre" ? "centre" : "corner";
    if (growing === rows) return noteOf(rows, `have their size beyond their ${start}: ${IF_CORNERS}`);
    // Corners far from the left upper corner reach over an edge too. A few of their boxes may have no area.
    return kind === "topleft" && over > MANY * rows
      ? noteOf(over, `reach far over an edge: ${2 * growing > rows ? IF_CORNERS : IF_CENTRES}`)
      : null;
  }
  if (inverted > MANY * rows)
    return noteOf(inverted, `have x_max < x_min or y_max < y_min: are they corners? ${IF_SIZES}`);
  if (unit[0] === 1) return null;
  const size = `of the ${sides.join("x")} input: is that its width and height?`;
  if (outside > MANY * rows) return noteOf(outside, `are centred outside ${size}`);
  return most <= QUARTER && most > CORNER
    ? noteOf(rows, `are centred in the left upper quarter ${size}`)
    : null;
}

const IF_CORNERS = 'say boxFormat: "xyxy" if they are corners';
const IF_CENTRES = 'say boxFormat: "cxcywh" if they are centre and size';

interface MeasuredRows {
  /** Count of rows read. In a finished list, only rows with a score above 0: exports with suppression add rows of 0. */
  readonly rows: number;
  /** Count of rows whose third and fourth numbers exceed the first and second. */
  readonly growing: number;
  /** Count of rows whose third number is below the first, or whose fourth is below the second. */
  readonly inverted: number;
  /** Count of rows whose centre lies outside of the input, if a row is two corners. */
  readonly outside: number;
  /** Count of rows that reach far over an edge, if a row is a corner and a size. */
  readonly over: number;
  /** Largest coordinate of any centre, as a fraction of the input's side, if a row is two corners. */
  readonly most: number;
}

function measureRows(work: PlanInMemory, [width, height]: readonly [number, number]): MeasuredRows {
  const { heads, reading } = work.plan;
  const [{ box, boxChannels, cells, score }] = heads;
  const [first, second, third, fourth] = boxChannels.map((at) => move(box, at));
  // An odd step meets all columns of a grid, which is an even count of cells wide.
  const step = Math.ceil(cells / MOST_ROWS) | 1;
  let [rows, growing, inverted, outside, over, most] = [0, 0, 0, 0, 0, 0];
  for (let cell = 0; cell < cells; cell += step) {
    if (READINGS[reading].finished && !(valueIn(work, 0, score, cell) > 0)) continue;
    const x = valueIn(work, 0, first, cell);
    const y = valueIn(work, 0, second, cell);
    const right = valueIn(work, 0, third, cell);
    const bottom = valueIn(work, 0, fourth, cell);
    rows++;
    if (right > x && bottom > y) growing++;
    if (right < x || bottom < y) inverted++;
    // The sum is twice the centre if a row is two corners, and the far edge if a row is a corner and a size.
    const far = Math.max((x + right) / width, (y + bottom) / height);
    if (far > 2 * OUTSIDE) outside++;
    if (far > OVER_EDGE) over++;
    most = Math.max(most, far / 2);
  }
  return { rows, growing, inverted, outside, over, most };
}
