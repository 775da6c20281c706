/**
 * Returns the manifest with the project's repository. npm refuses provenance if a manifest states another repository
 * than the one of the build. So the release fills in the repository in which it runs.
 * @param repository address of the repository, such as "https://example.org/owner/name"
 * @param folder the package's folder in the repository; empty for the root
 */
export const withRepository = (manifest, repository, folder = "") => ({
  ...manifest,
  repository: { type: "git", url: `git+${repository}.git`, ...(folder !== "" && { directory: folder }) },
  homepage: folder === "" ? `${repository}#readme` : `${repository}/tree/HEAD/${folder}#readme`,
  bugs: { url: `${repository}/issues` },
});
