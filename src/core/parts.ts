/** Errors about a value that is needed but was not passed to `createDecoder` of `boxwright/core`. */
import { ConfigError, mismatch } from "./errors.ts";
import { CORE } from "./tasks.ts";

const lineFor = (value: string): string =>
  `import { ${value} } from "${CORE.from}", and ${CORE.name}, { ${value} })`;

/** Returns the end of a short error: it says to pass the value `explain`, which has the long text. */
export const explainToSay = (what: string): string => `to be told ${what}, ${lineFor("explain")}`;

/** Throws a ConfigError: `what` needs the value. The message has the line of source code that passes the value. */
export function refuseWithout(value: string, what: string): never {
  throw new ConfigError([
    { path: `options.${value}`, message: mismatch(`none for ${what}`, lineFor(value)) },
  ]);
}
