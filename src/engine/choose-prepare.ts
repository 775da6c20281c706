/** Chooses an engine for pictures and makes it. */
import type { EngineName } from "../core/engine-name.ts";
import { checkEngine } from "./choose.ts";
import type { PrepareEngine } from "./prepare.ts";
import { tsPrepareEngine } from "./ts/prepare/index.ts";

/** Makes an engine over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makePrepareEngine(wanted: EngineName | "auto", bytes: number): PrepareEngine {
  checkEngine(wanted);
  return tsPrepareEngine(new ArrayBuffer(Math.ceil(bytes / 16) * 16));
}
