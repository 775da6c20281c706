/** Ends a build: relative addresses, the Markdown beside each page, llms.txt, and the service worker. */
import { createHash } from "node:crypto";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { relocate } from "./relocate.mjs";

/** @param site the argument of VitePress's `buildEnd` */
export function finish({ outDir, srcDir, pages }) {
  relocate(outDir);
  const documents = pages.filter((page) => !/^(index|playground|measure)\.md$/.test(page)).sort();
  for (const page of documents) cpSync(join(srcDir, page), join(outDir, page));
  writeFileSync(join(outDir, "llms.txt"), llmsText(srcDir, documents));
  writeFileSync(join(outDir, "sw.js"), serviceWorker(outDir));
}

/** Files that work offline after the first visit: the playground, its examples, and the programs of all pages. */
const KEPT =
  /^(index|playground|measure)\.html$|^examples\/|^assets\/.*\.(js|css)$|^assets\/scalar.*wasm$|^(icon\.svg|vp-icons\.css|hashmap\.json)$/;

/** Returns the service worker's program with its list of files. */
function serviceWorker(outDir) {
  const files = readdirSync(outDir, { recursive: true })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => KEPT.test(file))
    .sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(join(outDir, file)));
  const program = readFileSync(new URL("../src/sw.js", import.meta.url), "utf8");
  return program
    .replace("boxwright-VERSION", `boxwright-${hash.digest("hex").slice(0, 12)}`)
    .replace("const FILES = [];", `const FILES = ${JSON.stringify(files)};`);
}

/** Returns the list of pages for language models, in the format of https://llmstxt.org. */
function llmsText(srcDir, documents) {
  const line = (page) => {
    const text = readFileSync(join(srcDir, page), "utf8");
    const title = /^# (.+)$/m.exec(text)?.[1] ?? page;
    // Describe a page by its first paragraph of plain text.
    const about =
      /^(?![#|`>\-*!<])[A-Za-z`].*(?:\n(?!\n).+)*/m.exec(
        text.replace(/^---[\s\S]*?^---$/m, "").replace(/^# .+$/m, ""),
      )?.[0] ?? "";
    const sentence = about
      .replace(/\s+/g, " ")
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .split(/(?<=[.:])\s/)[0];
    return `- [${title}](${page})${sentence === "" ? "" : `: ${sentence}`}`;
  };
  const [first, others] = [/^[^/]+$/, /\//].map((which) => documents.filter((page) => which.test(page)));
  return [
    "# boxwright",
    "",
    "> Turns the raw output tensors of YOLO, SSD and DETR networks into labelled boxes, keypoints, masks and oriented",
    "> boxes: one call, in any JavaScript runtime.",
    "",
    "Each page below is Markdown; the same address with .html is for people.",
    "",
    "## Documentation",
    "",
    ...first.map(line),
    "",
    "## Optional",
    "",
    ...others.map(line),
    "",
  ].join("\n");
}
