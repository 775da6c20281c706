/** The package as it ships: the built files, found by the package's own name. */
import type * as Boxwright from "../src/entries/index.ts";

export type { Decoder, Detections } from "../src/entries/index.ts";

/** @throws where the package is not built, with the command that builds it. */
export async function loadPackage(): Promise<typeof Boxwright> {
  try {
    return (await import(import.meta.resolve("boxwright"))) as typeof Boxwright;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error("the package is not built: run `npm run build` first", { cause: error });
  }
}
