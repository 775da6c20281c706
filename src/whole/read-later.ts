import { createRequire } from "node:module";

/** Reads a file of the package, which lies beside this one. Node requires modules since 20.19 and 22.12. */
export const readLater = (file: string): Readonly<Record<string, unknown>> =>
  createRequire(import.meta.url)(`./${file}.mjs`) as Readonly<Record<string, unknown>>;
