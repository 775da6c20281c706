/**
 * Checks all boxes of a list that a network always fills. After found objects, such a list has boxes with low scores
 * all over the picture.
 */
import { READINGS } from "../core/readings.ts";
import { move } from "../heads/channels.ts";
import { type PlanInMemory, valueIn } from "../decode/values.ts";

/** Smallest count of filled rows for a conclusion. A list of found objects alone seldom has so many. */
const FEWEST_ROWS = 100;
/** Smallest count of queries for a conclusion. With fewer, every box may be large and near the upper left corner. */
const FEWEST_QUERIES = 25;
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
export function noteOfListBoxes(work: PlanInMemory): string | null {
  const { reading, heads, inputSize, inPhoto } = work.plan;
  const [{ about, kind, unit }] = heads;
  const areQueries = READINGS[reading].cells === "list";
  const sides = unit[0] === 1 ? ([1, 1] as const) : inputSize;
  if ((!areQueries && reading !== "end-to-end") || inPhoto || !sides) return null;
  const { rows, growing, inverted, outside, over, most } = measureRows(work, sides);
  if (rows < (areQueries ? FEWEST_QUERIES : FEWEST_ROWS)) return null;
  const noteOf = (count: number, fault: string): string =>
    `${count === rows ? "all" : `${count} of`} ${rows} boxes of ${about} ${fault}`;
  if (kind === "topleft")
    return over > MANY * rows ? noteOf(over, `reach far over an edge: ${adviceOn("cxcywh", CENTRES)}`) : null;
  if (kind === "centre")
    return growing === rows
      ? noteOf(rows, `have their size beyond their centre: ${adviceOn("xyxy", "corners")}`)
      : null;
  if (kind !== "corners" || areQueries) return null;
  if (inverted > MANY * rows)
    return noteOf(inverted, `have x_max < x_min or y_max < y_min: ${adviceOn("cxcywh", CENTRES)}`);
  if (unit[0] === 1) return null;
  const size = `of the ${sides.join("x")} input: is that its width and height?`;
  if (outside > MANY * rows) return noteOf(outside, `are centred outside ${size}`);
  return most <= QUARTER && most > CORNER
    ? noteOf(rows, `are centred in the left upper quarter ${size}`)
    : null;
}

const CENTRES = "centre and size";
const adviceOn = (format: string, what: string): string => `say boxFormat: "${format}" if they are ${what}`;

interface MeasuredRows {
  /** Count of rows. In a finished list, only rows with a score above 0: exports with suppression add rows of zeros. */
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
  const columns = boxChannels.map((at) => move(box, at));
  let [rows, growing, inverted, outside, over, most] = [0, 0, 0, 0, 0, 0];
  for (let cell = 0; cell < cells; cell++) {
    if (READINGS[reading].finished && !(valueIn(work, 0, score, cell) > 0)) continue;
    const [x, y, right, bottom] = columns.map((column) => valueIn(work, 0, column, cell));
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
