/** Kills processes in the middle of their work. */
import { statSync } from "node:fs";
import type { Child } from "./child.ts";
import { sleep } from "./wait.ts";

/** Number of times that tests kill a process. TEST_KILLS=20 finds more than the default. */
export const KILLS = Number(process.env["TEST_KILLS"] ?? 3);

/** Milliseconds for a test with many kills, also on a busy machine. */
export const KILLS_TIMEOUT = 600_000 + KILLS * 30_000;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Kills a process as soon as a file is larger than `bytes`, or when the process reports that it is done. */
export async function killAtSize(child: Child, file: string, bytes: number, isDone: RegExp): Promise<void> {
  let isOver = false;
  void child.ended.then(() => (isOver = true));
  while (!isOver && sizeOf(file) <= bytes && !isDone.test(child.output)) await sleep(1);
  await child.end("SIGKILL");
}
