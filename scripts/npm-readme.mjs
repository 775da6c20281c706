/**
 * Makes the relative links and pictures of README.md absolute, at a tag: `node scripts/npm-readme.mjs REPOSITORY TAG`.
 * The release runs it before it publishes. npm shows the README on a page of its own, where a relative link depends on
 * what npm makes of it; in the repository they stay relative.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/**
 * Returns the text with absolute links.
 * @param repository address of the repository, such as "https://example.org/owner/name"
 * @param tag the release
 */
export function withAbsoluteLinks(text, repository, tag) {
  return text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, picture, title, link) => {
    if (/^[a-z][a-z0-9+.-]*:|^#/i.test(link)) return whole;
    return `${picture}[${title}](${repository}/${picture ? "raw" : "blob"}/${tag}/${link})`;
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [repository, tag] = process.argv.slice(2);
  if (!/^https:\/\//.test(repository ?? "") || !tag) {
    console.error("usage: node scripts/npm-readme.mjs https://HOST/OWNER/NAME TAG");
    process.exit(2);
  }
  writeFileSync("README.md", withAbsoluteLinks(readFileSync("README.md", "utf8"), repository, tag));
}
