#!/usr/bin/env node
/** The command `boxwright`. `node/cli/run.ts` does all the work, so that tests need not start a process. */
import { UsageError } from "../node/cli/options.ts";
import { run } from "../node/cli/run.ts";
import { systemReason } from "../node/files/load.ts";

process.stdout.on("error", (e: NodeJS.ErrnoException) => {
  // Ignore EPIPE: a reader such as `| head` closes the pipe when it has read enough.
  if (e.code === "EPIPE") return;
  process.stderr.write(`boxwright: standard output cannot be written: ${systemReason(e)}\n`);
  process.exit(1);
});

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => {
    if (typeof text !== "string" && process.stdout.isTTY)
      throw new UsageError(
        "the result is bytes, and standard output is a terminal. Add --out FILE, or > FILE.",
      );
    process.stdout.write(text);
  },
  err: (text) => process.stderr.write(text),
  onInterrupt(tell) {
    const end = (): never => {
      tell();
      // Exit with 128 + 2, the number of SIGINT, as shells expect of an interrupted command.
      process.exit(130);
    };
    process.once("SIGINT", end);
    return () => process.off("SIGINT", end);
  },
  stdin: async () => {
    if (process.stdin.isTTY)
      throw new UsageError("standard input is a terminal. Pipe a photo, or a list of paths.");
    const chunks: Uint8Array[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
    return Buffer.concat(chunks);
  },
  isTerminal: process.stderr.isTTY,
});
