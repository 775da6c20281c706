/**
 * Gathers the pages of the site in site/.pages: the repository's Markdown, and the pages of site/pages. Only links
 * change. A linked Markdown file outside docs/ becomes a page too; any other linked file becomes a copy.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const pages = join(root, "site/.pages");

/** Files that a page embeds. They are copied beside the page. */
const SHOWN = /\.(jpg|png|svg)$/;

const isFile = (path) => existsSync(path) && statSync(path).isFile();

/** Returns the page of a Markdown file, or the copy of another file: its paths in the repository and below .pages. */
function placeOf(path) {
  if (path.startsWith("docs/")) {
    const inside = path.slice("docs/".length);
    if (inside === "families/README.md") return "families/index.md";
    return inside.endsWith(".md") || SHOWN.test(inside) ? inside : `public/${inside}`;
  }
  if (path === "README.md") return "overview.md";
  return path.endsWith(".md") || SHOWN.test(path) ? `repository/${path}` : `public/repository/${path}.txt`;
}

/** Returns the address of a place, relative to a page's folder. */
function addressOf(place, from) {
  const wanted = place.replace(/^public\//, "");
  return posix.relative(from, wanted) || basename(wanted);
}

/** Copies a file and all files that it links to. */
class Gatherer {
  #done = new Set();

  gather(path) {
    if (this.#done.has(path)) return;
    this.#done.add(path);
    const place = placeOf(path);
    const target = join(pages, place);
    mkdirSync(dirname(target), { recursive: true });
    if (path.endsWith(".md")) {
      const text = readFileSync(join(root, path), "utf8");
      writeFileSync(target, this.#relinked(text, path, place));
    } else cpSync(join(root, path), target);
  }

  /** Returns the text of a page with links to places of the site. A link to a folder becomes plain text. */
  #relinked(text, path, place) {
    const parts = text.split(/(^```[\s\S]*?^```)/m);
    return parts
      .map((part) => (part.startsWith("```") ? part : this.#relinkedPart(part, path, place)))
      .join("");
  }

  #relinkedPart(text, path, place) {
    return text.replace(/(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (whole, shown, words, link) => {
      if (/^([a-z]+:|#)/.test(link)) return whole;
      const [file, anchor] = link.split("#");
      const linked = posix.normalize(posix.join(posix.dirname(path), file));
      const there = isFile(join(root, linked)) ? linked : posix.join(linked, "README.md");
      if (linked.startsWith("..") || !isFile(join(root, there))) return words;
      this.gather(there);
      const address = addressOf(placeOf(there), posix.dirname(place));
      const isPage = placeOf(there).endsWith(".md") || SHOWN.test(there);
      const hash = anchor === undefined ? "" : `#${anchor}`;
      return isPage ? `${shown}[${words}](${address}${hash})` : `[${words}](${address})`;
    });
  }
}

/** Writes site/.pages again, except for the files of typedoc and the examples. */
export function gatherPages() {
  rmSync(join(pages, "repository"), { recursive: true, force: true });
  mkdirSync(pages, { recursive: true });
  cpSync(join(root, "site/pages"), pages, { recursive: true });
  cpSync(join(root, "docs/result.jpg"), join(pages, "public/result.jpg"));
  const gatherer = new Gatherer();
  for (const file of readdirSync(join(root, "docs"), { recursive: true }))
    if (file.endsWith(".md")) gatherer.gather(join("docs", file));
  for (const file of ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]) gatherer.gather(file);
  return pages;
}
