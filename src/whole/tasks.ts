import type { DecoderTask } from "../decode/tasks.ts";
import { masks } from "../tasks/masks/task.ts";
import { oriented } from "../tasks/oriented/task.ts";
import { peaks } from "../tasks/peaks/task.ts";
import { pose } from "../tasks/pose/task.ts";
import { prepare } from "../tasks/prepare/task.ts";
import { suppression } from "../tasks/suppression/task.ts";
import { text } from "../tasks/text/task.ts";

export const ALL_TASKS: readonly DecoderTask[] = [pose, masks, oriented, peaks, text, suppression, prepare];
