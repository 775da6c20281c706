/** Loads the parts of a decoder for `createDecoder`. A page loads only the tasks that the config needs. */
import { checks } from "../checks/checks.ts";
import type { Config } from "../config/types.ts";
import type { Parts } from "../decode/parts.ts";
import { type DecoderTask, namesOfTasks } from "../decode/tasks.ts";
import { explain } from "../plan/explain.ts";
import { prepare } from "../tasks/prepare/task.ts";

const TASKS: { readonly [N in Exclude<DecoderTask["task"], "prepare">]: () => Promise<DecoderTask> } = {
  pose: async () => (await import("../tasks/pose/task.ts")).pose,
  segment: async () => (await import("../tasks/masks/task.ts")).masks,
  oriented: async () => (await import("../tasks/oriented/task.ts")).oriented,
  peaks: async () => (await import("../tasks/peaks/task.ts")).peaks,
  text: async () => (await import("../tasks/text/task.ts")).text,
  suppression: async () => (await import("../tasks/suppression/task.ts")).suppression,
};

/** Returns the parts that a decoder of this config needs. */
export async function fetchParts(config: Config): Promise<Parts> {
  // A config that decodes nothing still makes a decoder that receives packets with keypoints or oriented boxes.
  const names = config.decodes ? namesOfTasks(config) : (["pose", "oriented"] as const);
  const tasks = await Promise.all(names.map((name) => TASKS[name]()));
  return { tasks: [...tasks, prepare], checks, explain };
}
