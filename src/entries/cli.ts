#!/usr/bin/env node
/** The `boxwright` command. All that it does is in `cli/run.ts`, which tests call without a process. */
import { UsageError } from "../node/cli/options.ts";
import { run } from "../node/cli/run.ts";

// A reader that has seen enough (`| head`) closes the pipe; that is no error. A full disk is.
process.stdout.on("error", (e: NodeJS.ErrnoException) => {
  if (e.code === "EPIPE") return;
  process.stderr.write(
    `boxwright: standard output: got ${e.code ?? e.message}, expected it to take everything\n`,
  );
  process.exit(1);
});

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => {
    if (typeof text !== "string" && process.stdout.isTTY)
      throw new UsageError("got a terminal to write bytes to, expected --out FILE, or > FILE");
    process.stdout.write(text);
  },
  err: (text) => process.stderr.write(text),
});
