/** Makes the reader of finished rows. Pages with networks that write none never load it. */
import type { Config } from "../config/types.ts";
import { TRAITS } from "../core/families.ts";
import type { RowOrderName } from "../core/row-orders.ts";
import { familyOf } from "../heads/query.ts";
import type { FinishedRows } from "./finished.ts";

/** Returns the column orders that the family's finished rows may have, undefined if it has none. */
function ordersOf(config: Config): readonly RowOrderName[] | undefined {
  if (!config.decodes) return undefined;
  return TRAITS[familyOf(config).family].finishedRows;
}

/** Returns the reader of finished rows, `null` if the family has none. `reader` is called only if it has. */
export function finishedRowsOf(config: Config, reader: () => typeof FinishedRows): FinishedRows | null {
  const orders = ordersOf(config);
  return orders ? new (reader())(config, orders) : null;
}

/** Does the same as `finishedRowsOf`, but loads the reader's module when needed. */
export async function fetchFinishedRows(config: Config): Promise<FinishedRows | null> {
  const orders = ordersOf(config);
  return orders ? new (await import("./finished.ts")).FinishedRows(config, orders) : null;
}
