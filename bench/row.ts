/** Measures one row in this process: `node --import ./bench/ts.mjs bench/row.ts TASK`. Prints the result as JSON. */
import { prepare } from "./engines.ts";
import { timeOf } from "./measure.ts";
import { NotApplicable, type Answer } from "./peers/prepared.ts";
import type { RowResult, RowTask } from "./processes.ts";
import { makeWorkload } from "./workloads.ts";

/** Copies the answer into plain arrays, which JSON keeps exactly. */
function plain({ count, boxes, scores, classIds, kept }: Answer): Answer {
  const columns = { boxes: Array.from(boxes), scores: Array.from(scores), classIds: Array.from(classIds) };
  return { count, ...columns, ...(kept === undefined ? {} : { kept: Array.from(kept) }) };
}

async function measure({ spec, row, entry, milliseconds }: RowTask): Promise<RowResult> {
  const { run, answer } = await prepare(row, makeWorkload(spec), entry);
  const timing = await timeOf(run, milliseconds);
  return { status: "ok", timing, answer: plain(answer()) };
}

function failure(error: unknown): RowResult {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof NotApplicable) return { status: "n/a", reason: message };
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND")
    return { status: "missing", reason: message.split("\n", 1)[0] };
  return { status: "failed", reason: String(error).split("\n", 1)[0] };
}

const result = await measure(JSON.parse(process.argv[2]) as RowTask).catch(failure);
// Exit at once: threads of a runtime may still wait for work.
process.stdout.write(`\n${JSON.stringify(result)}\n`, () => process.exit(0));
