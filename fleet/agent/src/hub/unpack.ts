/** Unpacks the archive of a version into a folder beside the running version, and flushes the files to the disk. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Release } from "boxwright-service/release";
import { makeFolder, syncFolder } from "../core/files.ts";
import { mainOf } from "../launcher/launch-state.ts";

/** Prefix in the names of incomplete folders. */
const UNFINISHED = ".new-";

/** Error: an archive does not contain what the release states. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

/**
 * Unpacks a checked archive. The folder gets its final name once all bytes are on the disk.
 * @throws ArchiveError, or the error of a full disk
 */
export async function unpack(archive: string, versions: string, release: Release): Promise<void> {
  makeFolder(versions);
  // Delete incomplete folders of earlier tries. A version on trial never has such a name.
  for (const name of readdirSync(versions))
    if (name.startsWith(UNFINISHED)) rmSync(join(versions, name), { recursive: true, force: true });
  const folder = join(versions, `${UNFINISHED}${release.version}`);
  const place = join(versions, release.version);
  mkdirSync(folder, { mode: 0o700 });
  await promisify(execFile)("tar", ["-xzf", archive, "-C", folder, "--no-same-owner"]);
  checkContent(folder, release);
  await syncTree(folder);
  // Replace a folder with the same version number, since its version failed or was signed again.
  rmSync(place, { recursive: true, force: true });
  renameSync(folder, place);
  syncFolder(versions);
}

function checkContent(folder: string, { version, name }: Release): void {
  if (!existsSync(mainOf(folder)))
    throw new ArchiveError(`${name} has no node_modules/boxwright-agent/dist/cli/main.js, expected an installed agent`);
  const about = readFileSync(join(folder, "node_modules", "boxwright-agent", "package.json"), "utf8");
  const { version: found } = JSON.parse(about) as { version?: unknown };
  if (found !== version) throw new ArchiveError(`${name} holds version ${String(found)}, expected ${version}`);
}

/** Flushes every file and folder of a tree. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) {
      const file = await open(path, "r");
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    }
  }
  syncFolder(folder);
}
