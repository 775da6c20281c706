/** Rewrites and checks links of published pages: npm shows a README on its own page, where relative links are dead. */
import { posix } from "node:path";

const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;
const isAbsolute = (link) => /^[a-z][a-z0-9+.-]*:|^#/i.test(link);

/**
 * Returns the text with absolute links into the repository, at a tag.
 * @param repository address of the repository, such as "https://example.org/owner/name"
 * @param page path of the page in the repository
 * @param isPacked true for the path of a file that is packed beside the page: its link stays relative
 */
export function withAbsoluteLinks(text, repository, tag, page = "README.md", isPacked = () => false) {
  return text.replace(LINK, (whole, picture, title, link) => {
    if (isAbsolute(link)) return whole;
    const path = posix.join(posix.dirname(page), link);
    if (isPacked(path.replace(/#.*$/, ""))) return whole;
    return `${picture}[${title}](${repository}/${picture ? "raw" : "blob"}/${tag}/${path})`;
  });
}

/** Returns the links of a page. */
export const linksOf = (text) => [...text.matchAll(LINK)].map(([, , , link]) => link);

/**
 * Returns the dead links of a packed page.
 * @param isPacked true for the repository path of a packed file
 * @param isTracked true for the path of a file or folder of the repository
 */
export function deadLinks(text, { repository, tag, page, isPacked, isTracked }) {
  const place = new RegExp(`^${repository.replaceAll(".", "\\.")}/(?:blob|raw)/${tag}/([^#]+)`);
  return linksOf(text).filter((link) => {
    if (link.startsWith("#")) return false;
    if (!isAbsolute(link)) return !isPacked(posix.join(posix.dirname(page), link).replace(/#.*$/, ""));
    if (!link.startsWith(`${repository}/`)) return false;
    return !isTracked(place.exec(link)?.[1] ?? "");
  });
}
