/** Measures a row in headless Chromium. For the row of @ultralytics/yolo, serves that package beside the page. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { storedZip } from "../../conformance/decoders/zip.mjs";
import { openPage } from "../../test/runtimes/browser.mjs";
import { Missing, fetchProgram, obtain } from "../../test/runtimes/install.mjs";
import type { PictureTask } from "./row.ts";

/** Other projects' packages, fetched into a temporary folder. @ultralytics/yolo is AGPL-3.0: it is never bundled. */
export const FETCHED = {
  ultralytics: {
    packages: ["@ultralytics/yolo@0.0.48"],
    bin: "@ultralytics/yolo/package.json",
  },
  sharp: { packages: ["sharp@0.35.5"], bin: "sharp/package.json" },
} as const;

/** Throws Missing if a package cannot be fetched. The benchmark then reports the row as missing, not as failed. */
const orMissing = (name: string, fetched: Promise<string>): Promise<string> =>
  fetched.catch((error: unknown) => {
    throw new Missing(`${name} cannot be installed: ${String(error).split("\n", 1)[0]}`);
  });

/** Returns the folder of a package, which is fetched if necessary. */
export const folderOf = async (name: keyof typeof FETCHED): Promise<string> =>
  dirname(await orMissing(FETCHED[name].packages[0], fetchProgram(name, FETCHED[name])));

/** The metadata of an export of YOLOv8n, as Ultralytics appends it to a .tflite: a zip with one stored file. */
function metadataZip(): Buffer {
  const names = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [i, `class ${i}`]));
  const description = "Ultralytics YOLOv8n model trained on coco.yaml";
  const about = {
    description,
    version: "8.3.0",
    stride: 32,
    task: "detect",
    batch: 1,
    imgsz: [640, 640],
    names,
  };
  const data = Buffer.from(JSON.stringify(about));
  return storedZip("metadata.json", data);
}

/** Returns the files of the package by the addresses that the page requests. */
function filesOf(folder: string): Record<string, string> {
  const files = readdirSync(join(folder, "pkg"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, path, name }) => {
      const file = join(parentPath ?? path, name);
      return [`/ultralytics/${relative(folder, file).replaceAll("\\", "/")}`, file];
    }),
  );
}

/** Options of a page. */
interface PageOptions {
  /** Constants of the page, as JSON. */
  readonly define: { readonly [name: string]: string };
  /** True to serve @ultralytics/yolo beside the page. */
  readonly theirs: boolean;
  readonly flags?: string[];
  /** Folder of the built package; default: this project's. */
  readonly dist?: string;
}

/** Bundles a file of this folder, opens it in Chromium, and returns its result from `boxwrightResult`. */
export async function runPage(
  file: string,
  { define, theirs, flags = [], dist }: PageOptions,
): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-page-"));
  const built = dist ?? fileURLToPath(new URL("../../dist", import.meta.url));
  try {
    const playwright: unknown = createRequire(import.meta.url)(
      await orMissing("playwright-core", obtain("playwright")),
    );
    const extra = theirs ? filesOf(await folderOf("ultralytics")) : {};
    writeFileSync(join(folder, "metadata.zip"), metadataZip());
    await build({
      entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
      outfile: join(folder, "main.mjs"),
      bundle: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      define: { ...define },
      logLevel: "error",
      plugins: [
        {
          name: "built",
          setup: (b) =>
            b.onResolve({ filter: /\/entries\/index\.ts$/ }, () => ({ path: join(built, "index.mjs") })),
        },
      ],
    });
    return await openPage({
      playwright,
      folder,
      app: folder,
      extra,
      flags,
      // Isolate the page: other pages have a coarse clock.
      headers: {
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures a row in a page of its own. */
export const measureInBrowser = ({ spec, engine, entries, milliseconds }: PictureTask): Promise<object> =>
  runPage("page.ts", {
    define: { TASK: JSON.stringify({ spec, engine, milliseconds }) },
    theirs: engine === "ultralytics",
    dist: dirname(fileURLToPath(entries[0])),
  });
