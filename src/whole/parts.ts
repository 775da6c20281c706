/** All tasks, checks and explanations, for the decoders of the entry `boxwright`. */
import { checks } from "../checks/checks.ts";
import type { Parts } from "../decode/parts.ts";
import { explain } from "../plan/explain.ts";
import { ALL_TASKS } from "./tasks.ts";

export const ALL_PARTS: Parts = { tasks: ALL_TASKS, checks, explain };
