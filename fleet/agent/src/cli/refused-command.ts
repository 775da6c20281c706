/** `boxwright-agent refused`: lists, resends or deletes the packets that a receiver refused. */
import { join } from "node:path";
import { fromPacket } from "boxwright";
import { SettingsError } from "../core/errors.ts";
import { readSettingsFile } from "../settings/read.ts";
import { type RefusedFile, RefusedFolder } from "../sinks/refused.ts";
import { lockFolder } from "../spool/lock.ts";
import { Spool } from "../spool/spool.ts";

export const REFUSED_USAGE = `boxwright-agent refused list SETTINGS.json            packets that a receiver refused, and why
boxwright-agent refused resend SETTINGS.json [NAME]   puts them into the spool again; stop the agent first
boxwright-agent refused delete SETTINGS.json [NAME]   deletes them. NAME is one of the list, or its beginning
`;

/** Runs the command. Returns the text for standard output. */
export async function runRefused([verb = "", file, name]: readonly string[]): Promise<string> {
  if (!["list", "resend", "delete"].includes(verb) || file === undefined)
    throw new SettingsError([{ path: "command line", message: `expected one of\n${REFUSED_USAGE}` }]);
  const { state, sinks, spool: limits } = readSettingsFile(file);
  const folder = new RefusedFolder(state, limits.refusedBytes);
  const files = folder.list().filter((one) => one.name.startsWith(name ?? ""));
  if (name !== undefined && files.length === 0)
    throw new SettingsError([{ path: "command line", message: `got "${name}", expected a name of the list` }]);
  if (verb === "list") return files.map((one) => `${lineOf(folder, one)}\n`).join("");
  if (verb === "delete") {
    for (const one of files) folder.remove(one);
    return `${files.length} deleted\n`;
  }
  // Lock the state folder: a running agent writes to the spool.
  const unlock = lockFolder(state);
  const names = sinks.map((sink) => sink.name);
  const spool = new Spool(join(state, "spool"), names, limits);
  let count = 0;
  try {
    for (const one of files) {
      // Wait only briefly. If the spool is full, `append` waits for deliveries, which do not run here.
      if (!(await spool.append(folder.read(one), AbortSignal.timeout(2000)))) break;
      folder.remove(one);
      count++;
    }
  } finally {
    spool.close();
    unlock();
  }
  const rest = files.length - count;
  return `${count} in the spool again${rest > 0 ? `, ${rest} found no room in it` : ""}. Start the agent to send them\n`;
}

/** Returns a line of the list: name, time, size, sink, frame and reason. */
function lineOf(folder: RefusedFolder, file: RefusedFile): string {
  let frame = "no packet";
  try {
    const { source, subject, id } = fromPacket(folder.read(file));
    frame = [source, subject, id].filter(Boolean).join(" ");
  } catch {
    // Ignore the error: the packet is invalid, so the receiver was right to refuse it.
  }
  return `${file.name.slice(0, 12)} ${file.time} ${file.bytes} bytes, ${file.sink}: ${frame}: ${file.reason}`;
}
