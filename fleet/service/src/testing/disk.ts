/**
 * A small disk in a separate mount namespace, which tests fill and empty. Needs no right to mount outside of the
 * namespace.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, statfsSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";
import { temporaryFolder } from "./folder.ts";
import { NAMESPACE, isRoot } from "./mount.ts";

export class SmallDisk {
  /** Folder of the disk, for processes in the namespace. */
  readonly path: string;
  /** Process that keeps the namespace alive while tests kill the services in it. */
  readonly #holder: ChildProcess;
  #isRemoved = false;

  private constructor(path: string, holder: ChildProcess) {
    this.path = path;
    this.#holder = holder;
    atFileEnd(() => this.remove());
  }

  /** @param size of the disk in the form that `mount` accepts, such as "1m" */
  static async mount(size: string): Promise<SmallDisk> {
    const { path } = temporaryFolder();
    const script = 'mount -t tmpfs -o size="$1" none "$2" && echo ready && exec cat';
    // `cat` reads a pipe of this process, so it ends with this process.
    const args = [...NAMESPACE, "sh", "-c", script, "sh", size, path];
    const holder = spawn("unshare", args, { stdio: ["pipe", "pipe", "inherit"] });
    await new Promise<void>((resolve, reject) => {
      holder.stdout.once("data", () => resolve());
      holder.once("exit", (code) => reject(new Error(`got exit ${code}, expected a mounted disk`)));
    });
    return new SmallDisk(path, holder);
  }

  /** Command prefix that runs another command in the namespace of the disk. */
  get prefix(): readonly string[] {
    return ["nsenter", "-t", String(this.#holder.pid), "-m", ...(isRoot ? [] : ["-U", "--preserve-credentials"]), "--"];
  }

  /** Path of the disk's folder, as this process sees it. */
  get #seen(): string {
    return join(`/proc/${this.#holder.pid}/root`, this.path);
  }

  /** Appends to a file until only `leave` bytes of space are left. */
  fill(leave = 0): void {
    const { bavail, bsize } = statfsSync(this.#seen);
    appendFileSync(join(this.#seen, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - leave)));
  }

  makeRoom(): void {
    rmSync(join(this.#seen, "filler"));
  }

  async remove(): Promise<void> {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    const ended = new Promise((resolve) => this.#holder.once("exit", resolve));
    this.#holder.kill("SIGKILL");
    await ended;
  }
}
