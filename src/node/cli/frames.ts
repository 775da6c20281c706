/** Frames in folders of tensor files, for `decode` and `draw`. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { UsageError } from "./options.ts";
import { isImagePath } from "./image-files.ts";

/** The tensor files of one frame. */
export interface TensorFrame {
  /** Name of the frame's file or folder, without the ending. */
  readonly name: string;
  readonly paths: readonly string[];
}

/** Name of the JSON file that lists the tensors of a frame. */
const LIST = "meta.json";
const TENSORS = /\.(npy|npz|safetensors)(\.gz)?$/i;

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

/** Folders of frames, and files that apply to every frame. */
export interface Folders {
  readonly folders: readonly string[];
  readonly shared: readonly string[];
}

/** Separates folders of frames from files that apply to all frames. Returns `null` if no word is a folder. */
export async function splitFolders(words: readonly string[]): Promise<Folders | null> {
  const are = await Promise.all(words.map(isFolder));
  const folders = words.filter((_, i) => are[i]);
  return folders.length === 0 ? null : { folders, shared: words.filter((_, i) => !are[i]) };
}

/** Returns the frames of a folder, by name: its tensor files and folders with a meta.json, or the folder itself. */
export async function framesIn(folder: string): Promise<TensorFrame[]> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
  if (names.includes(LIST)) return [{ name: basename(folder), paths: [join(folder, LIST)] }];
  const frames: TensorFrame[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if (TENSORS.test(name)) frames.push({ name: name.replace(TENSORS, ""), paths: [path] });
    else if (await stat(join(path, LIST)).catch(() => null)) frames.push({ name, paths: [join(path, LIST)] });
  }
  if (frames.length === 0)
    throw new UsageError(
      `${folder} holds no frames. Expected .npy, .npz or .safetensors files, or folders with a meta.json.`,
    );
  return frames;
}

/** Returns a function that finds the photo of a frame by the frame's name. `photos` is a folder. */
export async function photoFinder(photos: string): Promise<(name: string) => string | undefined> {
  const files = (await readdir(photos)).filter(isImagePath);
  return (name) => {
    const found = files.find((file) => file.replace(/\.\w+$/, "") === name);
    return found === undefined ? undefined : join(photos, found);
  };
}
