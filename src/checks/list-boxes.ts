/**
 * Checks the boxes of all rows in an end-to-end list. Such a network always fills its list: rows of low scores follow
 * those of found objects, and their boxes stand all over the picture.
 */
import { move } from "../heads/channels.ts";
import { type PlanInMemory, valueIn } from "../decode/values.ts";

/** Smallest count of filled rows for a conclusion. A list of found objects alone seldom has so many. */
const FEWEST_ROWS = 100;
/** Fraction of the input's sides within which no trained network has the centres of all rows. */
const QUARTER = 0.52;
/** If all centres lie in this fraction of the sides, boxes are 0..1 or not decoded yet. Other checks tell. */
const CORNER = 0.1;
/** Smallest fraction of rows that must be wrong for a note. */
const MANY = 0.1;
/** A centre beyond this fraction of the sides lies outside of the input. */
const OUTSIDE = 1.02;

/** Returns a note if the rows of an end-to-end list contradict the stated input size or the format of boxes. */
export function noteOfListBoxes(work: PlanInMemory): string | null {
  const { reading, heads, inputSize, inPhoto } = work.plan;
  const [{ about, kind, cells }] = heads;
  if (reading !== "end-to-end" || cells < FEWEST_ROWS || !inputSize || inPhoto) return null;
  if (kind !== "corners" && kind !== "centre") return null;
  const { rows, growing, outside, most } = measureRows(work, inputSize);
  if (rows < FEWEST_ROWS) return null;
  if (kind === "centre")
    return growing === rows
      ? `all ${rows} rows of ${about} have their size beyond their centre, as two corners are, and are read as centre ` +
          'and size: say boxFormat: "xyxy" if they are corners'
      : null;
  if (rows - growing > MANY * rows)
    return (
      `${rows - growing} of ${rows} rows of ${about} have x_max < x_min or y_max < y_min, also those of low scores: are ` +
      'the rows corners? If they are centre and size, say boxFormat: "cxcywh"'
    );
  const size = `of a ${inputSize.join("x")} input: is that its width and height?`;
  if (outside > MANY * rows) return `${outside} of ${rows} rows of ${about} stand outside ${size}`;
  return most <= QUARTER && most > CORNER
    ? `all ${rows} rows of ${about}, also those of low scores, stand in the left upper quarter ${size}`
    : null;
}

interface MeasuredRows {
  /** Count of rows with a score above 0. Exports with suppression fill up their lists with zeros. */
  readonly rows: number;
  /** Count of rows whose second pair of numbers is larger than the first. */
  readonly growing: number;
  /** Count of rows with their centre outside of the input, if they are corners. */
  readonly outside: number;
  /** Largest centre as a fraction of the input's sides, if the rows are corners in pixels. */
  readonly most: number;
}

function measureRows(work: PlanInMemory, [width, height]: readonly [number, number]): MeasuredRows {
  const [{ box, boxChannels, cells, score, unit }] = work.plan.heads;
  const isPixels = unit[0] !== 1;
  const columns = boxChannels.map((at) => move(box, at));
  let [rows, growing, outside, most] = [0, 0, 0, 0];
  for (let cell = 0; cell < cells; cell++) {
    if (!(valueIn(work, 0, score, cell) > 0)) continue;
    const [x, y, right, bottom] = columns.map((column) => valueIn(work, 0, column, cell));
    rows++;
    if (right >= x && bottom >= y) growing++;
    const far = isPixels ? Math.max((x + right) / 2 / width, (y + bottom) / 2 / height) : 0;
    if (far > OUTSIDE) outside++;
    most = Math.max(most, far);
  }
  return { rows, growing, outside, most };
}
