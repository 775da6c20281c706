/** Entry `boxwright/core` for Node: loads the code of a task when a decoder first uses it. core.ts has the types. */
export * from "./shared.ts";
export { createDecoder } from "../decode/create.ts";
export { checks } from "../checks/checks.ts";
export { explain } from "../plan/explain.ts";
export { createDecoderSync } from "../whole/core-node.ts";
export { parseConfig } from "../whole/parse-config.ts";
export { masks, oriented, peaks, pose, prepare, suppression, text } from "../whole/later.ts";
