import { createRequire } from "node:module";

/** Loads a module from the folder of this file. Node can `require` ES modules since 20.19 and 22.12. */
export const readLater = (file: string): Readonly<Record<string, unknown>> =>
  createRequire(import.meta.url)(`./${file}.mjs`) as Readonly<Record<string, unknown>>;
