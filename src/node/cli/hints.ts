/** Translates the library's option names, in errors and notes, to option names of the command line. */
import { ConfigError, type OptionHint, TensorError } from "../../core/errors.ts";
import { type CommandName, optionsOf } from "./options.ts";

/** Returns the error's message, with the options that would resolve the error and are not given yet. */
export function withHints(error: Error, command: CommandName, words: readonly string[]): string {
  const isGiven = (name: string): boolean =>
    words.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const options = Object.entries(optionsOf(command)).filter(([name]) => !isGiven(name));
  const hints = hintsOf(error).flatMap(({ option: wanted, value }) =>
    options
      .filter(([, { sets, example }]) => sets === wanted && example !== undefined)
      .map(([name, { example }]) =>
        wanted === "family" && value === undefined
          ? ((error as { readonly familyWords?: string }).familyWords ?? `--${name} NAME`)
          : `--${name} ${value ?? example}`,
      ),
  );
  return hints.length === 0 ? error.message : `${error.message}\nIn this command: ${hints.join(", ")}`;
}

/** Returns a note of the library as a line for this command: `labels: "coco80"` becomes `--labels coco80`. */
export function noteLine(note: string, command: CommandName): string {
  const options = Object.entries(optionsOf(command));
  const text = note.replace(/\b(\w+): "([\w-]+)"|(?<=\bthe option )(\w+)/g, (whole, option, value, alone) => {
    const [name] = options.find(([, { sets }]) => sets === (option ?? alone)) ?? [];
    return name === undefined ? whole : `--${name}${option === undefined ? "" : ` ${value}`}`;
  });
  return `boxwright: note: ${text}\n`;
}

const hintsOf = (error: Error): readonly OptionHint[] =>
  error instanceof TensorError || error instanceof ConfigError ? error.options : [];
