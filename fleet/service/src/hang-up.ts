/** SIGHUP: a terminal that was closed, or a rotation of logs. */

/**
 * Without a terminal, lets SIGHUP pass: programs that rotate logs send it, and it would end the process. A closed
 * terminal ends the process as SIGTERM does.
 */
export function outliveRotation(log: (message: string) => void): void {
  process.on("SIGHUP", () => {
    if (process.stdout.isTTY || process.stderr.isTTY) process.kill(process.pid, "SIGTERM");
    else log("got SIGHUP: nothing has to be opened anew, going on");
  });
}
