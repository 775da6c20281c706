/** Plan files with every task. */
import { masks } from "../../src/planfile/masks.ts";
import { oriented } from "../../src/planfile/oriented.ts";
import { peaks } from "../../src/planfile/peaks.ts";
import { pose } from "../../src/planfile/pose.ts";
import {
  type LoadOptions,
  type PlanDecoder,
  loadPlan as load,
  loadPlanSync as loadSync,
} from "../../src/planfile/decoder.ts";

const tasks = [pose, masks, oriented, peaks];

export const loadPlan = (bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): Promise<PlanDecoder> =>
  load(bytes, { tasks, ...options });

export const loadPlanSync = (bytes: Uint8Array | ArrayBuffer, options: LoadOptions = {}): PlanDecoder =>
  loadSync(bytes, { tasks, ...options });
