/** A small disk in a mount namespace of its own, to be filled and emptied. Needs no right to mount outside of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, statfsSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { temporaryFolder } from "./folder.ts";
import { NAMESPACE, isRoot } from "./mount.ts";

const disks = new Set<SmallDisk>();
afterAll(() => Promise.all([...disks].map((disk) => disk.remove())));

export class SmallDisk {
  /** Folder of the disk, for processes in its namespace. */
  readonly path: string;
  /** Keeps the namespace while hosts in it are killed. */
  readonly #holder: ChildProcess;

  private constructor(path: string, holder: ChildProcess) {
    this.path = path;
    this.#holder = holder;
    disks.add(this);
  }

  /** @param size of the disk as `mount` takes it, "1m" */
  static async mount(size: string): Promise<SmallDisk> {
    const { path } = temporaryFolder();
    const script = 'mount -t tmpfs -o size="$1" none "$2" && echo ready && exec cat';
    // `cat` ends with this process, whose pipe it reads.
    const args = [...NAMESPACE, "sh", "-c", script, "sh", size, path];
    const holder = spawn("unshare", args, { stdio: ["pipe", "pipe", "inherit"] });
    await new Promise<void>((resolve, reject) => {
      holder.stdout.once("data", () => resolve());
      holder.once("exit", (code) => reject(new Error(`got exit ${code}, expected a mounted disk`)));
    });
    return new SmallDisk(path, holder);
  }

  /** Command that runs another one where the disk is mounted. */
  get prefix(): readonly string[] {
    return ["nsenter", "-t", String(this.#holder.pid), "-m", ...(isRoot ? [] : ["-U", "--preserve-credentials"]), "--"];
  }

  /** Folder of the disk, for this process. */
  get #seen(): string {
    return join(`/proc/${this.#holder.pid}/root`, this.path);
  }

  /** Adds to a file as much as the space that is left, but for some bytes. */
  fill(leave = 0): void {
    const { bavail, bsize } = statfsSync(this.#seen);
    appendFileSync(join(this.#seen, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - leave)));
  }

  makeRoom(): void {
    rmSync(join(this.#seen, "filler"));
  }

  async remove(): Promise<void> {
    if (!disks.delete(this)) return;
    const ended = new Promise((resolve) => this.#holder.once("exit", resolve));
    this.#holder.kill("SIGKILL");
    await ended;
  }
}
