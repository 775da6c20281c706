/**
 * Makes the reader of finished rows for families that have such rows. Pages with other networks never load the reader.
 */
import type { Config } from "../config/types.ts";
import { TRAITS } from "../core/families.ts";
import type { RowOrderName } from "../core/row-orders.ts";
import { familyOf } from "../heads/query.ts";
import type { FinishedRows } from "./finished.ts";

/**
 * Returns the column orders that finished rows of the config's network may have; undefined if its family has no such
 * rows.
 */
function ordersOf(config: Config): readonly RowOrderName[] | undefined {
  if (!config.decodes) return undefined;
  return TRAITS[familyOf(config).family].finishedRows;
}

/**
 * Returns the reader that brings finished rows of a network into one form; `null` if its family has no finished rows.
 * @param reader returns the class of the reader. Called only if the family has finished rows
 */
export function finishedRowsOf(config: Config, reader: () => typeof FinishedRows): FinishedRows | null {
  const orders = ordersOf(config);
  return orders ? new (reader())(config, orders) : null;
}

/** Like `finishedRowsOf`, but loads the reader's module when needed. */
export async function fetchFinishedRows(config: Config): Promise<FinishedRows | null> {
  const orders = ordersOf(config);
  return orders ? new (await import("./finished.ts")).FinishedRows(config, orders) : null;
}
