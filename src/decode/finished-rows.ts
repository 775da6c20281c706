/** Makes the reader of finished rows. Pages whose networks output no such rows never load the reader. */
import type { Config } from "../config/types.ts";
import { TRAITS } from "../core/families.ts";
import type { RowOrderName } from "../core/row-orders.ts";
import { familyOf } from "../heads/query.ts";
import type { FinishedRows } from "./finished.ts";

/** Returns the column orders that the family's finished rows may have. Undefined if the family has no such rows. */
function ordersOf(config: Config): readonly RowOrderName[] | undefined {
  if (!config.decodes) return undefined;
  return TRAITS[familyOf(config).family].finishedRows;
}

/** Returns the reader of finished rows. Returns `null`, without a call of `reader`, if the family has no such rows. */
export function finishedRowsOf(config: Config, reader: () => typeof FinishedRows): FinishedRows | null {
  const orders = ordersOf(config);
  return orders ? new (reader())(config, orders) : null;
}

/** Does the same as `finishedRowsOf`, but loads the reader's module when needed. */
export async function fetchFinishedRows(config: Config): Promise<FinishedRows | null> {
  const orders = ordersOf(config);
  return orders ? new (await import("./finished.ts")).FinishedRows(config, orders) : null;
}
