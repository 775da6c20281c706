/** Turns the options that an error of the library asks for into options of the command line. */
import { ConfigError, type OptionHint, TensorError } from "../../core/errors.ts";
import { type CommandName, optionsOf } from "./options.ts";

/**
 * Returns a message with the options of this command that would settle the error. Options that the user gave are left
 * out: the message names them already.
 */
export function withHints(error: Error, command: CommandName, words: readonly string[]): string {
  const isGiven = (name: string): boolean =>
    words.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const options = Object.entries(optionsOf(command)).filter(([name]) => !isGiven(name));
  const hints = hintsOf(error).flatMap(({ option: wanted, value }) =>
    options
      .filter(([, { sets, example }]) => sets === wanted && example !== undefined)
      .map(([name, { example }]) =>
        wanted === "family" && value === undefined
          ? ((error as { readonly familyWords?: string }).familyWords ?? `--${name} ${example}`)
          : `--${name} ${value ?? example}`,
      ),
  );
  return hints.length === 0 ? error.message : `${error.message}\nIn this command: ${hints.join(", ")}`;
}

const hintsOf = (error: Error): readonly OptionHint[] =>
  error instanceof TensorError || error instanceof ConfigError ? error.options : [];
