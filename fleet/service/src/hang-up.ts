/** Handles SIGHUP, which means a closed terminal, or a rotation of logs. */

/**
 * Ignores SIGHUP if there is no terminal: programs that rotate logs send this signal, which would end the process. If a
 * terminal closes, the process ends as after SIGTERM.
 */
export function outliveRotation(log: (message: string) => void): void {
  process.on("SIGHUP", () => {
    if (process.stdout.isTTY || process.stderr.isTTY) process.kill(process.pid, "SIGTERM");
    else log("got SIGHUP: nothing has to be opened anew, going on");
  });
}
