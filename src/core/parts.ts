/** Errors about a value that is needed but was not passed to `createDecoder` of `boxwright/core`. */
import { ConfigError, mismatch } from "./errors.ts";
import { CORE } from "./tasks.ts";

/** Returns the source line that passes a value. */
const lineFor = (value: string): string =>
  `import { ${value} } from "${CORE.from}", and ${CORE.name}, { ${value} })`;

/** Returns the end of an error that is short because the value `explain`, which has the long text, was not passed. */
export const explainToSay = (what: string): string => `to be told ${what}, ${lineFor("explain")}`;

/** Throws a ConfigError saying that `what` needs the value, with the source line that passes it. */
export function refuseWithout(value: string, what: string): never {
  throw new ConfigError([
    { path: `options.${value}`, message: mismatch(`none for ${what}`, lineFor(value)) },
  ]);
}
