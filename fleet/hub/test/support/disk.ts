/** A small disk of its own, to be filled. Mounting needs root, or sudo without a password. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), "hub-disk-"));

  /** Returns a disk of so many MiB, or undefined if this user may not mount one. */
  static mount(megabytes: number): SmallDisk | undefined {
    const disk = new SmallDisk();
    if (asRoot("mount", "-t", "tmpfs", "-o", `size=${megabytes}m,mode=0777`, "tmpfs", disk.path)) return disk;
    rmdirSync(disk.path);
    return undefined;
  }

  /** Writes a file as large as all the space that is left. */
  fill(): void {
    const { bavail, bsize } = statfsSync(this.path);
    writeFileSync(join(this.path, "filler"), Buffer.alloc(bavail * bsize));
  }

  unmount(): void {
    if (asRoot("umount", this.path)) rmdirSync(this.path);
  }
}

function asRoot(command: string, ...args: string[]): boolean {
  const [name, ...rest] = process.getuid?.() === 0 ? [command, ...args] : ["sudo", "-n", command, ...args];
  return spawnSync(name, rest).status === 0;
}
