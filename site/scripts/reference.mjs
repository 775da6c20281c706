/**
 * Writes the types of the package, with their docstrings, as pages. typedoc makes one page for each entry. The page of
 * `boxwright` is long, so it is split by kind of declaration. typedoc runs only if the sources have changed.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pages, root } from "./pages.mjs";

const site = join(root, "site");
const made = join(site, ".cache/typedoc");
const stamp = join(site, ".cache/typedoc.stamp");

/** The pages of `boxwright`, by typedoc's headings. */
const KINDS = {
  Functions: ["functions", "Functions of boxwright"],
  Classes: ["classes", "Classes of boxwright"],
  Interfaces: ["interfaces", "Interfaces of boxwright"],
  "Type Aliases": ["types", "Type aliases of boxwright"],
  Variables: ["variables", "Constants of boxwright"],
};

function digest() {
  const hash = createHash("sha256");
  for (const file of readdirSync(join(root, "src"), { recursive: true }).sort())
    if (file.endsWith(".ts")) hash.update(file).update(readFileSync(join(root, "src", file)));
  for (const file of ["typedoc.json", "site/typedoc.json"]) hash.update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

function runTypedoc() {
  const wanted = digest();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  rmSync(made, { recursive: true, force: true });
  execFileSync(process.execPath, [join(site, "node_modules/typedoc/bin/typedoc"), "--out", made], {
    cwd: site,
    stdio: "inherit",
  });
  mkdirSync(join(site, ".cache"), { recursive: true });
  writeFileSync(stamp, wanted);
}

const slugOf = (name) => name.toLowerCase().replace(/[^\w]+.*$/, "");

/** Writes the pages to .pages/reference. */
export function writeReference() {
  runTypedoc();
  const text = readFileSync(join(made, "index-1.md"), "utf8");
  const places = new Map();
  const parts = text.split(/^## (.+)$/m).slice(1);
  const sections = [];
  for (let i = 0; i < parts.length; i += 2) {
    const [file, title] = KINDS[parts[i].trim()];
    for (const [, name] of parts[i + 1].matchAll(/^### (.+)$/gm)) places.set(slugOf(name), file);
    sections.push([file, title, parts[i + 1]]);
  }
  const folder = join(pages, "reference");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [file, title, body] of sections)
    writeFileSync(
      join(folder, `${file}.md`),
      `${SHORT_OUTLINE}# ${title}\n${raised(relinked(body, file, places))}`,
    );
  for (const entry of ["core", "plan", "node", "pool"]) {
    const body = readFileSync(join(made, `${entry}.md`), "utf8").replace(/^# .*$/m, `# boxwright/${entry}`);
    writeFileSync(join(folder, `${entry}.md`), relinked(body, entry, places));
  }
}

/** Lists names (headings of the second level), without their parameters. */
const SHORT_OUTLINE = "---\noutline: 2\n---\n\n";

/** Returns a page whose headings are one level higher, since typedoc's second level becomes the page. */
const raised = (body) => body.replace(/^#(##+ )/gm, "$1");

/** Returns a page with unique names for headings, and with links to them. */
function relinked(body, file, places) {
  const own = new Set([...body.matchAll(/^### (.+)$/gm)].map(([, name]) => slugOf(name)));
  const seen = new Set();
  return body
    .replace(/<a id="[^"]*"><\/a> ?/g, "")
    .replace(/^### (.+)$/gm, (whole, name) => {
      const slug = slugOf(name);
      if (seen.has(slug)) return whole;
      seen.add(slug);
      return `${whole} {#name-${slug}}`;
    })
    .replace(
      /\[((?:[^\][]|\\.)*)\]\((?:index-1\.md|([a-z]+)\.md)?#([\w-]+)\)/g,
      (whole, words, other, anchor) => {
        const slug = anchor.replace(/-\d+$/, "");
        const isHere = other === undefined && !whole.includes("index-1.md") && own.has(slug);
        if (isHere) return `[${words}](#name-${slug})`;
        const place = other ?? places.get(slug);
        // Keep the text of a link to a property, without the link.
        if (place === undefined || (other === undefined && !places.has(slug))) return words;
        return place === file
          ? `[${words}](#name-${slug})`
          : `[${words}](${place}.md${other ? "" : `#name-${slug}`})`;
      },
    )
    .replace(/\((?:index-1)\.md\)/g, "(functions.md)");
}
