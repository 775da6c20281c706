/** Finds the packages to measure: that of this checkout, and another one for comparison. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as Boxwright from "../src/entries/index.ts";
import { UsageError } from "./options.ts";

export type { Detections, EngineName, TensorInput } from "../src/entries/index.ts";

/** URL of a built entry of this checkout. */
export const ownEntry = (entry = "."): string =>
  entryOf(fileURLToPath(new URL("../", import.meta.url)), entry);

export const loadPackage = async (entry: string): Promise<typeof Boxwright> =>
  (await import(entry)) as typeof Boxwright;

type Exports = string | { readonly [condition: string]: Exports };

/** Conditions in `exports` that an `import` matches. "module-sync" is one of them if Node can require modules. */
const CONDITIONS = ["node", "import", "default"];
if ((process.features as { readonly require_module?: boolean }).require_module)
  CONDITIONS.push("module-sync");

/** Returns the file that an `import` in Node loads. */
function targetOf(exports: Exports): string | undefined {
  if (typeof exports === "string") return exports;
  for (const [condition, inner] of Object.entries(exports)) {
    const target = CONDITIONS.includes(condition) ? targetOf(inner) : undefined;
    if (target !== undefined) return target;
  }
  return undefined;
}

/** Returns the URL of a package's entry. `folder` is a checkout, an unpacked package, or the dist folder of either. */
export function entryOf(folder: string, entry = "."): string {
  const root = [resolve(folder), dirname(resolve(folder))].find((path) =>
    existsSync(join(path, "package.json")),
  );
  if (root === undefined)
    throw new UsageError(
      `${folder} has no package.json, nor has the folder above. Give a checkout, an unpacked package, or its dist.`,
    );
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports?: { readonly [entry: string]: Exports };
  };
  const target = targetOf(manifest.exports?.[entry] ?? {});
  if (target === undefined) throw new UsageError(`${root}/package.json names no entry that Node can import.`);
  const file = join(root, target);
  if (!existsSync(file)) throw new UsageError(`${file} is missing. Run \`npm run build\` in ${root} first.`);
  return pathToFileURL(file).href;
}

/** Unpacks a packed tarball into a temporary folder, which is removed when this process ends. */
function unpack(tarball: string): string {
  if (!existsSync(tarball))
    throw new UsageError(`--release: ${tarball} is missing. Give a file made by \`npm pack\`.`);
  const folder = mkdtempSync(join(tmpdir(), "boxwright-release-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  execFileSync("tar", ["-xzf", resolve(tarball), "-C", folder]);
  return join(folder, "package");
}

/** Returns the entry of the package from `--against` or `--release`, if given. */
export function otherEntry(options: { against?: string; release?: string }, entry = "."): string | undefined {
  const { against, release } = options;
  if (against !== undefined && release !== undefined)
    throw new UsageError("--against and --release both name the other package. Give one of them.");
  if (release !== undefined) return entryOf(unpack(release), entry);
  return against === undefined ? undefined : entryOf(against, entry);
}
