/** `boxwright/core` in Node: a task that is passed is read when a decoder first uses it. core.ts has the types. */
export * from "./shared.ts";
export { createDecoder, createDecoderSync } from "../decode/create.ts";
export { checks } from "../checks/checks.ts";
export { explain } from "../plan/explain.ts";
export { masks, oriented, peaks, pose, prepare, suppression, text } from "../whole/later.ts";
