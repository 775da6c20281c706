import { createRequire } from "node:module";

/** Loads a module of the package that lies beside this one. Node can require ES modules since 20.19 and 22.12. */
export const readLater = (file: string): Readonly<Record<string, unknown>> =>
  createRequire(import.meta.url)(`./${file}.mjs`) as Readonly<Record<string, unknown>>;
