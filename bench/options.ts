/** The command lines of the benchmark. */

/** A mistake in the command line. The message states the correct use. */
export class UsageError extends Error {}

/**
 * Returns the items that an option's words select, or all items without the option.
 * @throws UsageError for a word that selects none
 */
export function chosen<T>(
  option: string,
  words: string | undefined,
  items: readonly T[],
  nameOf: (item: T) => string,
  isMeant = (word: string, item: T): boolean => word === nameOf(item),
): T[] {
  if (words === undefined) return [...items];
  const list = words.split(",");
  const strangers = list.filter((word) => !items.some((item) => isMeant(word, item)));
  if (strangers.length > 0) {
    const names = [...new Set(items.map(nameOf))].join(", ");
    throw new UsageError(`${option}: nothing is called ${strangers.join(", ")}. Give some of ${names}.`);
  }
  return items.filter((item) => list.some((word) => isMeant(word, item)));
}

/** Returns the positive number of an option, or `otherwise` without the option. */
export function positive(option: string, value: string | undefined, otherwise: number): number {
  const number = value === undefined ? otherwise : Number(value);
  if (!(number > 0)) throw new UsageError(`${option}: got ${value}, expected a number above 0.`);
  return number;
}

/** Runs a script. For a mistake in the command line, prints the message without a stack and exits with 2. */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (!(error instanceof UsageError) && !code.startsWith("ERR_PARSE_ARGS")) throw error;
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}
