/** Cells of the tables in the terminal and on the page. */
import { toPixels } from "../../dist/index.mjs";

export const BOX_HEAD = ["label", "confidence", "x_min", "y_min", "x_max", "y_max"];

/** Returns label, confidence and corners in pixels of a picture. */
export function boxRow(detection, width, height) {
  const { label, class_id, confidence } = detection;
  const p = toPixels(detection, width, height);
  const corners = [p.x_min, p.y_min, p.x_max, p.y_max].map((v) => fixed(v, 1));
  return [label === String(class_id) ? `class ${class_id}` : label, fixed(confidence, 4), ...corners];
}

/** Returns a number with `digits` decimals, never "-0". */
export const fixed = (value, digits) => value.toFixed(digits).replace(/^-(0(?:\.0*)?)$/, "$1");

export const time = (us) => (us < 1000 ? `${us.toFixed(1)} us` : `${(us / 1000).toFixed(2)} ms`);

/** Returns a sentence, without its full stop, about the agreement of the engines and of the recording. */
export function verdict({ same, by, problems }) {
  const engines = same ? "the engines agree to the last digit" : "THE ENGINES DISAGREE";
  return `${engines}; ${problems.length === 0 ? "as recorded" : "OTHER THAN RECORDED"}: ${by}`;
}

export const isGood = ({ same, problems }) => same && problems.length === 0;
