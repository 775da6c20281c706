/** Parses the flags of a command line. One error lists all wrong flags, each with a suggestion. */
import { meantBy } from "./names.ts";

/** A flag with a value, or one without. */
export type FlagKind = "text" | "switch";

export interface Flags {
  readonly values: Readonly<Record<string, string | true>>;
  /** Arguments that are neither flags nor values of flags. */
  readonly words: readonly string[];
  readonly problems: string[];
}

export function readFlags(args: readonly string[], known: Readonly<Record<string, FlagKind>>): Flags {
  const values: Record<string, string | true> = {};
  const words: string[] = [];
  const problems: string[] = [];
  const names = Object.keys(known);
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!;
    const next = args[i + 1];
    if (word === "--") {
      words.push(...args.slice(i + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    const [, name = "", , value] = /^-{1,2}([^=]*)(=(.*))?$/s.exec(word)!;
    const kind = word.startsWith("--") && Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) {
      problems.push(`-${word.startsWith("--") ? "-" : ""}${name}: is not known${meantBy(name, names, "--")}`);
      // Skip the next argument, most likely the unknown flag's value.
      if (value === undefined && next?.startsWith("-") === false) i++;
    } else if (kind === "switch") {
      if (value !== undefined) problems.push(`--${name}: got a value, expected the flag alone`);
      values[name] = true;
    } else if (value !== undefined) values[name] = value;
    else if (next === undefined || next.startsWith("--")) problems.push(`--${name}: got no value, expected one`);
    else {
      values[name] = next;
      i++;
    }
  }
  return { values, words, problems };
}
