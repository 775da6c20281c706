/** Locks the state folder, so that only one agent uses it. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "boxwright-service/errors";

/** Error: another process uses the state folder. */
export class LockError extends Error {
  override readonly name = "LockError";
}

/**
 * Locks a folder for this process. Takes over the lock of a process that has ended.
 * @returns a function that unlocks the folder
 * @throws LockError if another running process holds the lock
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

/** Returns id and start time of a process. The id alone is not enough, since the system reuses ids. */
function nameOf(pid: number): string {
  try {
    // Cut off everything up to the program's name, which is in brackets and may contain spaces. The start time is the
    // 20th field after it.
    const [, rest = ""] = /\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    // Treat a zombie as ended. Its parent may never collect it, as the first process of a container often does not.
    if (/^[ZX]/.test(rest)) return "";
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
