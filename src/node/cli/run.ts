/** Runs a command of `boxwright` without a process: takes words, writes text, and returns the exit code. */
import { readFile } from "node:fs/promises";
import { isRefusal } from "../../core/errors.ts";
import { isRecord, showJson } from "../../core/json.ts";
import { DrawError } from "../../picture/drawn.ts";
import { compile } from "./compile.ts";
import { decode } from "./decode.ts";
import { draw } from "./draw.ts";
import { helpText } from "./help.ts";
import { withHints } from "./hints.ts";
import { inspect } from "./inspect.ts";
import type { Io } from "./io.ts";
import { COMMAND_NAMES, type CommandName, UsageError, isCommand } from "./options.ts";
import { type Parsed, parseWords } from "./parse.ts";
import { runNetwork } from "./run-network.ts";

const DONE = 0;
const REFUSED = 1;
const USAGE = 2;

const commands: Readonly<Record<CommandName, (parsed: Parsed, io: Io) => Promise<void>>> = {
  run: runNetwork,
  decode,
  draw,
  inspect,
  compile,
};

/** Runs the command that `argv` names, and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const [name = "", ...words] = argv;
  try {
    if (name === "--version" || name === "-V") io.out(`${await version()}\n`);
    else if (name === "--help" || name === "-h") io.out(helpText());
    else if (name === "help") io.out(helpText(words[0]));
    else if (isCommand(name)) await runCommand(name, words, io);
    else {
      const problem = name === "" ? "no command is given" : `unknown command ${showJson(name)}`;
      throw new UsageError(`${problem}: expected ${COMMAND_NAMES.join(", ")}`);
    }
    return DONE;
  } catch (e) {
    return report(e as Error & { code?: string }, name, words, io);
  }
}

async function runCommand(name: CommandName, words: readonly string[], io: Io): Promise<void> {
  const parsed = parseWords(name, words);
  if (parsed.values["help"]) io.out(helpText(name));
  else await commands[name](parsed, io);
}

function report(error: Error & { code?: string }, name: string, words: readonly string[], io: Io): number {
  if (error instanceof UsageError) {
    io.err(`boxwright: ${error.message}\nTry: boxwright ${isCommand(name) ? `${name} ` : ""}--help\n`);
    return USAGE;
  }
  // Print only the message of an error of the library or the system. Any other error is a bug, so print its stack.
  const isRefused = isRefusal(error) || error instanceof DrawError || typeof error.code === "string";
  if (!isRefused) io.err(`boxwright: ${error.stack ?? String(error)}\n`);
  else io.err(`boxwright: ${isCommand(name) ? withHints(error, name, words) : error.message}\n`);
  return REFUSED;
}

/** Reads the version from package.json, one folder above the bundle, or three folders above this source file. */
async function version(): Promise<string> {
  for (const path of ["../package.json", "../../../package.json"]) {
    const json: unknown = JSON.parse(
      await readFile(new URL(path, import.meta.url), "utf8").catch(() => "null"),
    );
    if (isRecord(json) && json["name"] === "boxwright") return String(json["version"]);
  }
  return "unknown";
}
