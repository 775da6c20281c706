/**
 * Simulates power cuts. Records the changes that code makes in a folder through `node:fs`, and builds what a cut after
 * each change may leave on the disk, as ALICE (OSDI 2014) does for file systems like ext4:
 *  - Data of a file that was not flushed may be missing, zero, or half written.
 *  - A name may be missing until its folder is flushed. Names reach the disk in order, each with or without the data.
 *
 * A test replaces `node:fs` by the result of `recordFs`, and `node:fs/promises` by that of `recordPromises`. The
 * factory of `vi.mock` imports this module itself, since vitest runs the factory before other imports.
 */
import { createHash } from "node:crypto";
import type * as FsModule from "node:fs";
import type * as PromisesModule from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";

type Fs = typeof FsModule;
type Promises = typeof PromisesModule;

interface FileNode {
  readonly kind: "file";
  /** Content when the recording began. */
  readonly start: Buffer;
  size: number;
}
interface FolderNode {
  readonly kind: "folder";
  /** Names when the recording began. */
  readonly start: ReadonlyMap<string, Node>;
  readonly entries: Map<string, Node>;
}
interface LinkNode {
  readonly kind: "link";
  readonly target: string;
}
type Node = FileNode | FolderNode | LinkNode;

type Change =
  /** Bytes written at a position. Null cuts the file there. */
  | { readonly kind: "data"; readonly file: FileNode; readonly at: number; readonly bytes: Buffer | null }
  /** Names that get a file, or lose theirs, at once. */
  | { readonly kind: "names"; readonly set: readonly (readonly [FolderNode, string, Node | null])[] }
  | { readonly kind: "sync"; readonly node: Node }
  | { readonly kind: "mark"; readonly text: string };

/** State of a folder after a power cut: contents of files, targets of links, and folders, by name. */
export interface Tree {
  readonly [name: string]: Buffer | string | Tree;
}

export interface CutState {
  readonly tree: Tree;
  /** Marks of the test before the cut. */
  readonly marks: readonly string[];
}

/** Unflushed data that is on the disk: all, none, its size alone, half of the last write, or that of one file. */
type Data = "all" | "none" | "zero" | "torn" | FileNode;

let fs: Fs;
let current: Recording | null = null;

class Recording {
  readonly changes: Change[] = [];
  readonly folder: FolderNode;
  readonly #root: string;
  readonly #open = new Map<number, { readonly node: Node; at: number; readonly appends: boolean }>();

  constructor(root: string) {
    this.#root = resolve(root);
    this.folder = readFolder(this.#root);
  }

  /** Returns the node at a path; undefined if there is none, or the path is outside of the recorded folder. */
  find(path: unknown): Node | undefined {
    if (typeof path !== "string") return undefined;
    const below = relative(this.#root, resolve(path));
    if (below === "") return this.folder;
    let node: Node | undefined = this.folder;
    for (const name of below.split("/")) node = node?.kind === "folder" ? node.entries.get(name) : undefined;
    return node;
  }

  name(...set: readonly (readonly [string, Node | null])[]): void {
    const found = set.map(([path, node]) => [this.find(dirname(path)), basename(path), node] as const);
    const inside = found.filter((one): one is [FolderNode, string, Node | null] => one[0]?.kind === "folder");
    for (const [folder, name, node] of inside)
      if (node === null) folder.entries.delete(name);
      else folder.entries.set(name, node);
    if (inside.length > 0) this.changes.push({ kind: "names", set: inside });
  }

  make(path: string): FileNode {
    const node: FileNode = { kind: "file", start: Buffer.alloc(0), size: 0 };
    this.name([path, node]);
    return node;
  }

  opened(fd: number, path: unknown, existed: Node | undefined): void {
    const node = existed ?? (fs.fstatSync(fd).isFile() ? this.make(String(path)) : undefined);
    if (node === undefined) return;
    if (node.kind === "file" && fs.fstatSync(fd).size < node.size) this.cut(node, 0);
    this.#open.set(fd, { node, at: 0, appends: node.kind === "file" && fs.fstatSync(fd).size > 0 });
  }

  closed(fd: number): void {
    this.#open.delete(fd);
  }

  /** Records bytes written to an open file: at a position, or else where the last write ended. */
  wrote(fd: number, bytes: Buffer, position?: number | null): void {
    const open = this.#open.get(fd);
    if (open?.node.kind !== "file") return;
    const at = position ?? (open.appends ? open.node.size : open.at);
    this.changes.push({ kind: "data", file: open.node, at, bytes: Buffer.from(bytes) });
    open.at = at + bytes.length;
    open.node.size = Math.max(open.node.size, open.at);
  }

  cut(file: FileNode, at: number): void {
    if (file.size === at) return;
    this.changes.push({ kind: "data", file, at, bytes: null });
    file.size = at;
  }

  cutOpen(fd: number, at: number): void {
    const node = this.#open.get(fd)?.node;
    if (node?.kind === "file") this.cut(node, at);
  }

  flushed(fd: number): void {
    const node = this.#open.get(fd)?.node;
    if (node) this.changes.push({ kind: "sync", node });
  }

  /** Records that a path and all below it are deleted, the deepest first. */
  removed(path: string): void {
    const node = this.find(path);
    if (node === undefined) return;
    if (node.kind === "folder") for (const name of [...node.entries.keys()]) this.removed(join(path, name));
    this.name([path, null]);
  }
}

/** Reads a folder as what is on the disk for sure. */
function readFolder(path: string): FolderNode {
  const entries = new Map<string, Node>();
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) entries.set(entry.name, readFolder(below));
    else if (entry.isSymbolicLink()) entries.set(entry.name, { kind: "link", target: fs.readlinkSync(below) });
    else {
      const start = fs.readFileSync(below);
      entries.set(entry.name, { kind: "file", start, size: start.length });
    }
  }
  return { kind: "folder", start: new Map(entries), entries };
}

const bytesOf = (data: unknown): Buffer =>
  typeof data === "string" ? Buffer.from(data) : Buffer.from(data as Uint8Array);

/** Returns `node:fs` with functions that record what they change. Reading functions are those of the module. */
export function recordFs(module: Fs): object {
  fs = module;
  const recorded = {
    openSync(...args: Parameters<Fs["openSync"]>) {
      const existed = current?.find(args[0]);
      const fd = fs.openSync(...args);
      current?.opened(fd, args[0], existed);
      return fd;
    },
    closeSync(fd: number) {
      current?.closed(fd);
      fs.closeSync(fd);
    },
    writeSync(fd: number, data: Uint8Array | string, offset?: number, length?: number, position?: number | null) {
      if (typeof data === "string") {
        current?.wrote(fd, bytesOf(data));
        return fs.writeSync(fd, data);
      }
      const count = fs.writeSync(fd, data, offset ?? 0, length ?? data.length, position ?? null);
      current?.wrote(fd, bytesOf(data.subarray(offset ?? 0, (offset ?? 0) + count)), position);
      return count;
    },
    writeFileSync(path: string | number, data: string | Uint8Array, options?: FsModule.WriteFileOptions) {
      if (typeof path === "number") {
        current?.wrote(path, bytesOf(data));
        return fs.writeFileSync(path, data);
      }
      const { flag = "w", mode = 0o666 } = typeof options === "object" ? (options ?? {}) : {};
      const fd = recorded.openSync(path, flag, mode);
      recorded.writeSync(fd, bytesOf(data), 0, bytesOf(data).length, null);
      recorded.closeSync(fd);
    },
    ftruncateSync(fd: number, length = 0) {
      fs.ftruncateSync(fd, length);
      current?.cutOpen(fd, length);
    },
    // Only record a flush: the power of this machine stays on.
    fsyncSync: (fd: number) => current?.flushed(fd),
    fdatasyncSync: (fd: number) => current?.flushed(fd),
    renameSync(from: string, to: string) {
      const node = current?.find(from);
      fs.renameSync(from, to);
      if (node) current?.name([from, null], [to, node]);
    },
    linkSync(from: string, to: string) {
      fs.linkSync(from, to);
      current?.name([to, current.find(from)!]);
    },
    symlinkSync(target: string, path: string) {
      fs.symlinkSync(target, path);
      current?.name([path, { kind: "link", target }]);
    },
    mkdirSync(path: string, options?: FsModule.MakeDirectoryOptions) {
      const first = fs.mkdirSync(path, options);
      const missing: string[] = [];
      for (let at = resolve(path); current && current.find(at) === undefined && dirname(at) !== at; at = dirname(at))
        missing.unshift(at);
      for (const at of missing) current!.name([at, { kind: "folder", start: new Map(), entries: new Map() }]);
      return first;
    },
    rmSync(path: string, options?: FsModule.RmOptions) {
      fs.rmSync(path, options);
      current?.removed(path);
    },
  };
  return { ...module, ...recorded, default: { ...module, ...recorded } };
}

/** Returns `node:fs/promises` with an `open` whose files record what they change. */
export function recordPromises(module: Promises): object {
  const open = async (...args: Parameters<Promises["open"]>): Promise<PromisesModule.FileHandle> => {
    const existed = current?.find(args[0]);
    const file = await module.open(...args);
    current?.opened(file.fd, args[0], existed);
    const [write, truncate, close] = [file.write.bind(file), file.truncate.bind(file), file.close.bind(file)];
    return Object.assign(file, {
      async write(data: Uint8Array, offset: number, length: number, position: number) {
        const done = await write(data, offset, length, position);
        current?.wrote(file.fd, bytesOf(data.subarray(offset, offset + length)), position);
        return done;
      },
      sync: async () => current?.flushed(file.fd),
      async truncate(length: number) {
        await truncate(length);
        current?.cutOpen(file.fd, length);
      },
      async close() {
        current?.closed(file.fd);
        await close();
      },
    });
  };
  return { ...module, open, default: { ...module, open } };
}

/** Records that something is promised from here on, such as an acknowledged packet. */
export const mark = (text: string): void => void current?.changes.push({ kind: "mark", text });

/**
 * Runs code that changes a folder. Returns the distinct states that a power cut may leave, one after each change.
 * @param most largest number of states; more are thinned out evenly
 */
export async function recordCuts(root: string, run: () => unknown, most: number): Promise<CutState[]> {
  const recording = (current = new Recording(root));
  try {
    await run();
  } finally {
    current = null;
  }
  const states = new Map<string, CutState>();
  for (let end = 0; end <= recording.changes.length; end++)
    for (const state of statesAfter(recording, recording.changes.slice(0, end)))
      states.set(`${digestOf(state.tree)} ${state.marks.length}`, state);
  const all = [...states.values()];
  const step = Math.max(1, (all.length - 1) / (most - 1));
  return all.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
}

function* statesAfter({ folder }: Recording, changes: readonly Change[]): Generator<CutState> {
  const marks = changes.flatMap((change) => (change.kind === "mark" ? [change.text] : []));
  const last = new Map<Node, number>();
  changes.forEach((change, i) => change.kind === "sync" && last.set(change.node, i));
  const isFlushed = (change: Change, i: number): boolean =>
    change.kind === "data"
      ? i < (last.get(change.file) ?? -1)
      : change.kind === "names" && change.set.some(([at]) => i < (last.get(at) ?? -1));
  const flushed = new Set(changes.filter(isFlushed));
  const pending = changes.filter((change) => change.kind === "names" && !flushed.has(change));
  const files = new Set(changes.flatMap((one) => (one.kind === "data" && !flushed.has(one) ? [one.file] : [])));
  for (const data of ["all", "none", "zero", "torn", ...files] as const) {
    for (let count = 0; count <= pending.length; count++) {
      const lost = new Set(pending.slice(count));
      yield { marks, tree: buildTree(folder, changes, { flushed, lost, data }) };
    }
    // One name alone is missing: another folder has reached the disk before it.
    for (const name of pending)
      yield { marks, tree: buildTree(folder, changes, { flushed, lost: new Set([name]), data }) };
  }
}

interface Choice {
  readonly flushed: ReadonlySet<Change>;
  readonly lost: ReadonlySet<Change>;
  readonly data: Data;
}

function buildTree(root: FolderNode, changes: readonly Change[], choice: Choice): Tree {
  const entries = new Map<FolderNode, Map<string, Node>>();
  const entriesOf = (folder: FolderNode): Map<string, Node> => {
    if (!entries.has(folder)) entries.set(folder, new Map(folder.start));
    return entries.get(folder)!;
  };
  for (const change of changes)
    if (change.kind === "names" && !choice.lost.has(change))
      for (const [folder, name, node] of change.set)
        if (node === null) entriesOf(folder).delete(name);
        else entriesOf(folder).set(name, node);
  const build = (folder: FolderNode): Tree =>
    Object.fromEntries(
      [...entriesOf(folder)].map(([name, node]) => [
        name,
        node.kind === "folder" ? build(node) : node.kind === "link" ? node.target : contentOf(node, changes, choice),
      ]),
    );
  return build(root);
}

function contentOf(file: FileNode, changes: readonly Change[], { flushed, data }: Choice): Buffer {
  let content = Buffer.from(file.start);
  const own = changes.filter((change) => change.kind === "data" && change.file === file);
  const torn = own.findLast((change) => !flushed.has(change));
  for (const change of own) {
    const isMissing = data === "none" || (typeof data === "object" && data !== file);
    if (change.kind !== "data" || (isMissing && !flushed.has(change))) continue;
    let { bytes } = change;
    if (bytes && !flushed.has(change) && data === "zero") bytes = Buffer.alloc(bytes.length);
    if (bytes && change === torn && data === "torn") bytes = bytes.subarray(0, bytes.length >> 1);
    if (bytes === null) content = Buffer.from(content.subarray(0, change.at));
    else {
      const grown = Buffer.alloc(Math.max(content.length, change.at + bytes.length));
      content.copy(grown);
      bytes.copy(grown, change.at);
      content = grown;
    }
  }
  return content;
}

function digestOf(tree: Tree): string {
  const hash = createHash("sha256");
  const add = (folder: Tree): void => {
    for (const name of Object.keys(folder).sort()) {
      const value = folder[name]!;
      hash.update(`${name}\0`);
      if (typeof value === "string" || Buffer.isBuffer(value)) hash.update(value).update("\0");
      else add(value);
    }
    hash.update("/");
  };
  add(tree);
  return hash.digest("hex");
}

/** Writes a state into an empty folder. */
export function writeTree(folder: string, tree: Tree): void {
  for (const [name, value] of Object.entries(tree)) {
    const path = join(folder, name);
    if (typeof value === "string") fs.symlinkSync(value, path);
    else if (Buffer.isBuffer(value)) fs.writeFileSync(path, value, { mode: 0o600 });
    else {
      fs.mkdirSync(path);
      writeTree(path, value);
    }
  }
}
