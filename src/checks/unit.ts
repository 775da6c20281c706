/** Checks the unit of boxes, pixels or 0..1, from a plan block alone: plan files hold nothing else. */
import type { Moment } from "./check.ts";
import * as A from "../core/abi.ts";
import { refuse } from "../core/errors.ts";
import { recordsOf } from "../decode/best.ts";

/** Kinds of heads with coordinates as channels. Other heads have offsets, which have no unit. */
const KINDS = [A.KIND_CENTRE, A.KIND_CORNERS, A.KIND_TOPLEFT];
/** Size of the upper left corner in pixels. Not all boxes of a picture lie there, if their unit is a pixel. */
const CORNER = 2;
/** Largest size of a box in 0..1, as a multiple of the picture's width. */
const WIDEST = 16;

/** Throws if the plan's unit (pixels or 0..1) is impossible for the first candidates, and the other unit fits. */
export function checkUnitOfBlock({ work, block }: Moment): null {
  const { memory } = work.engine;
  const { i32, f32 } = memory;
  const [head] = recordsOf(memory, block);
  if (!KINDS.includes(i32[head + A.H_KIND])) return null;
  const pixel = [f32[head + A.H_KX], f32[head + A.H_KY]];
  const first = i32[(block >> 2) + A.P_BOXES] >> 2;
  const end = first + 4 * i32[(block >> 2) + A.P_CANDIDATES];
  let most = 0;
  for (let i = first; i < end; i++) most = Math.max(most, Math.abs(f32[i]) / pixel[(i - first) & 1]);
  const got = `box coordinates up to ${Number(most.toPrecision(3))}`;
  const compile = (unit: string): string => `compile the plan with coordinates: "${unit}"`;
  if (pixel[0] !== 1 && most <= CORNER)
    refuse("plan", got, `pixels of the input; if they are 0..1, ${compile("normalised")}`);
  if (pixel[0] === 1 && most > WIDEST) refuse("plan", got, `0..1; if they are pixels, ${compile("pixels")}`);
  return null;
}
