/** `boxwright/core`: decoders with only the tasks and checks that the caller passes, for small bundles. */
export * from "./shared.ts";
export { parseConfig } from "../config/config.ts";
export { type CoreOptions, createDecoder } from "../decode/create.ts";
export { createDecoderSync } from "../decode/create-sync.ts";
export type { Checks } from "../decode/checks.ts";
export { checks } from "../checks/checks.ts";
export { type Explain, explain } from "../plan/explain.ts";
export type { KnownTask } from "../decode/records.ts";
export type { NetworkTask, SuppressionTask, DecoderTask } from "../decode/tasks.ts";
export type { PrepareTask } from "../decode/prepare.ts";
export { masks } from "../tasks/masks/task.ts";
export { oriented } from "../tasks/oriented/task.ts";
export { peaks } from "../tasks/peaks/task.ts";
export { pose } from "../tasks/pose/task.ts";
export { prepare } from "../tasks/prepare/task.ts";
export { suppression } from "../tasks/suppression/task.ts";
export { text } from "../tasks/text/task.ts";
