/** Provides the kernel for browsers without vector instructions, to measure its time. */
import { provideKernel } from "boxwright";

let provided: Promise<void> | undefined;

/** Does nothing without WebAssembly. */
export function provideScalar(): Promise<void> {
  provided ??= (async () => {
    if (typeof WebAssembly !== "object") return;
    const { default: address } = await import("@repo/dist/scalar.wasm?url");
    provideKernel("scalar", await (await fetch(address)).arrayBuffer());
  })().catch(() => undefined);
  return provided;
}
