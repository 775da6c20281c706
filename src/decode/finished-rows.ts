/** Finds out whether a network's family has finished rows. A page fetches what reads them for such a family. */
import type { Config } from "../config/types.ts";
import { TRAITS } from "../core/families.ts";
import type { RowOrderName } from "../core/row-orders.ts";
import { familyOf } from "../heads/query.ts";
import type { FinishedRows } from "./finished.ts";

/** Returns the orders that finished rows of a config's network may have; undefined if its family has none. */
function ordersOf(config: Config): readonly RowOrderName[] | undefined {
  if (!config.decodes) return undefined;
  return TRAITS[familyOf(config).family].finishedRows;
}

/**
 * Returns what brings the rows of a config's network into one form; `null` if its family has no finished rows.
 * @param reader returns the class. Called for a family with finished rows alone
 */
export function finishedRowsOf(config: Config, reader: () => typeof FinishedRows): FinishedRows | null {
  const orders = ordersOf(config);
  return orders ? new (reader())(config, orders) : null;
}

/** Fetches what `finishedRowsOf` returns. */
export async function fetchFinishedRows(config: Config): Promise<FinishedRows | null> {
  const orders = ordersOf(config);
  return orders ? new (await import("./finished.ts")).FinishedRows(config, orders) : null;
}
