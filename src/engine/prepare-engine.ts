import { prepare as binary } from "#kernels";
import type { EngineName } from "../core/engine-name.ts";
import { Kernel } from "../kernels/kernel.ts";
import { checkEngine, choose, plainMemory } from "./choose.ts";
import type { PrepareEngine, PrepareKernelExports } from "./prepare.ts";
import { tsPrepareEngine } from "./ts/prepare/index.ts";

const prepareKernel = /* @__PURE__ */ new Kernel("prepare", binary);

/** Makes an engine for pictures over at least `bytes` bytes of new memory. Throws if a named engine cannot run here. */
export function makePrepareEngine(wanted: EngineName | "auto", bytes: number): PrepareEngine {
  checkEngine(wanted);
  const name = choose(prepareKernel, wanted);
  if (name === "ts") return tsPrepareEngine(plainMemory(bytes));
  const { memory, exports } = prepareKernel.instantiate(name, bytes);
  const { unpack, resample, emit, prepare } = exports as PrepareKernelExports;
  return { name, buffer: memory.buffer, unpack, resample, emit, prepare };
}
