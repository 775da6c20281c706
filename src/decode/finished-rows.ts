/** Makes the reader of finished rows. Pages whose networks output no such rows never load the reader. */
import type { Config } from "../config/types.ts";
import { TRAITS } from "../core/families.ts";
import { familyOf } from "../heads/query.ts";
import type { FinishedRows } from "./finished.ts";

const mayHaveRows = (config: Config): boolean =>
  config.decodes && TRAITS[familyOf(config).family].finishedRows !== undefined;

/** Returns the reader of finished rows. Returns `null`, without a call of `reader`, if the family has no such rows. */
export const finishedRowsOf = (config: Config, reader: () => typeof FinishedRows): FinishedRows | null =>
  mayHaveRows(config) ? new (reader())(config) : null;

/** Does the same as `finishedRowsOf`, but loads the reader's module when needed. */
export const fetchFinishedRows = async (config: Config): Promise<FinishedRows | null> =>
  mayHaveRows(config) ? new (await import("./finished.ts")).FinishedRows(config) : null;
