import { parseArgs } from "node:util";
import { showJson } from "../../core/json.ts";
import { completionOf } from "./complete.ts";
import { type CommandName, type Option, UsageError, type Values, optionsOf } from "./options.ts";

export interface Parsed {
  readonly values: Values;
  readonly positionals: readonly string[];
}

/** Separates words into options and positionals. Throws a UsageError for unknown options and missing values. */
export function parseWords(command: CommandName, words: readonly string[]): Parsed {
  const options = optionsOf(command);
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options: {
      ...Object.fromEntries(
        Object.entries(options).map(([name, option]) => [name, parseOption(name, option)]),
      ),
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
    // Check the words below, not by Node: for a misspelt option, Node's message suggests a positional.
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { rawName, value, inlineValue } = token;
    const placeholder = token.name === "help" ? undefined : options[token.name]?.value;
    if (token.name !== "help" && !Object.hasOwn(options, token.name))
      throw new UsageError(`unknown option ${rawName}. ${completionOf(token.name, command)}`);
    if (placeholder === undefined) {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value: got ${showJson(value)}`);
    } else if (value === undefined) {
      throw new UsageError(`${rawName} has no value: write ${rawName} ${placeholder}`);
    } else if (!inlineValue && /^-./.test(value)) {
      throw new UsageError(
        `${rawName} has no value, and ${showJson(value)} after it looks like an option. Write ` +
          `${rawName}=${value} if it is the value.`,
      );
    }
  }
  return { values, positionals };
}

const parseOption = (name: string, { value, isRepeatable }: Option) =>
  ({
    type: value === undefined ? "boolean" : "string",
    multiple: isRepeatable ?? false,
    ...(name === "out" && { short: "o" }),
  }) as const;
