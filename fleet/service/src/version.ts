/** Prints the version of a service on request. */
import { readFileSync } from "node:fs";

/**
 * Prints the version if the command line asks for the version alone. Returns true if it does.
 * @param main address of the module `cli/main` of the service. Its package.json is two folders up, in src/ and in dist/
 */
export function printVersion(main: string, args: readonly string[] = process.argv.slice(2)): boolean {
  if (args.length !== 1 || args[0] !== "--version") return false;
  const about = readFileSync(new URL("../../package.json", main), "utf8");
  process.stdout.write(`${(JSON.parse(about) as { version: string }).version}\n`);
  return true;
}
