/** One agent for each folder of state. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../core/errors.ts";

/** Another process works in the folder. */
export class LockError extends Error {
  override readonly name = "LockError";
}

/**
 * Takes a folder for this process. A lock of a process that has ended is taken over.
 * @returns a function that gives the folder back
 * @throws LockError if another process has it
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, "lock");
  const mine = nameOf(process.pid);
  for (;;) {
    try {
      writeFileSync(path, mine, { flag: "wx", mode: 0o600 });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const holder = readFileSync(path, "utf8");
    const pid = Number(holder.split(" ")[0]);
    if (pid > 0 && holder === nameOf(pid) && holder !== mine)
      throw new LockError(
        `${folder} is used by process ${pid}. Stop that agent, or give this one another folder by "state".`,
      );
    rmSync(path, { force: true });
  }
}

/** Returns id and start of a process: ids are used again, the pair is not. */
function nameOf(pid: number): string {
  try {
    // The name of the program stands in brackets and may hold spaces. The start is the 20th field behind it.
    const [, rest = ""] = /\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return `${pid} ${rest.split(" ")[19]}`;
  } catch {
    return isAlive(pid) ? `${pid} -` : "";
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
