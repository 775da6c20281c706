/**
 * Fills in where the project is: `node scripts/npm-manifest.mjs REPOSITORY` sets `repository`, `homepage` and `bugs` of
 * package.json. The release runs it before it publishes. npm refuses provenance for another repository than the one it
 * was built in, so the fields are of the repository that releases.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/**
 * Returns the manifest with the three fields.
 * @param repository address of the repository, such as "https://example.org/owner/name"
 */
export const withRepository = (manifest, repository) => ({
  ...manifest,
  repository: { type: "git", url: `git+${repository}.git` },
  homepage: `${repository}#readme`,
  bugs: { url: `${repository}/issues` },
});

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [repository] = process.argv.slice(2);
  if (!/^https:\/\/[^/]+\/[^/]+\/[^/]+$/.test(repository ?? "")) {
    console.error("usage: node scripts/npm-manifest.mjs https://HOST/OWNER/NAME");
    process.exit(2);
  }
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  writeFileSync("package.json", `${JSON.stringify(withRepository(manifest, repository), null, 2)}\n`);
}
