/** Errors about a value such as `explain` that is needed but was not passed to `boxwright/core`'s functions. */
import { refuseConfig } from "./errors.ts";
import { CORE } from "./tasks.ts";

const lineFor = (value: string): string =>
  `import { ${value} } from "${CORE.from}", and ${CORE.name}, { ${value} })`;

/** Returns the end of a short error, which advises to pass the value `explain` for the long text. */
export const explainToSay = (what: string): string => `to be told ${what}, ${lineFor("explain")}`;

/**
 * Throws a ConfigError which says that `what` needs the exported value named `value`. The message has the source code
 * that passes it.
 */
export function refuseWithout(value: string, what: string): never {
  refuseConfig(`options.${value}`, `none for ${what}`, lineFor(value));
}
