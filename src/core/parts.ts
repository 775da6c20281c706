/** Refusals that name a value which was not passed to `createDecoder` of `boxwright/core`. */
import { ConfigError, mismatch } from "./errors.ts";
import { CORE } from "./tasks.ts";

/** Returns the line to write for a value. */
const lineFor = (value: string): string =>
  `import { ${value} } from "${CORE.from}", and ${CORE.name}, { ${value} })`;

/** Ends a short error: the value `explain` has the long one. */
export const explainToSay = (what: string): string => `to be told ${what}, ${lineFor("explain")}`;

/** Throws a ConfigError with the line to write, because the value is needed for `what`. */
export function refuseWithout(value: string, what: string): never {
  throw new ConfigError([
    { path: `options.${value}`, message: mismatch(`none for ${what}`, lineFor(value)) },
  ]);
}
