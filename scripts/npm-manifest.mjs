/**
 * Returns the manifest with the place of the project. npm refuses provenance for another repository than the one that a
 * package was built in, so the release fills the fields in for the repository that it runs in.
 * @param repository address of the repository, such as "https://example.org/owner/name"
 * @param folder where the package stands in the repository; empty for the root
 */
export const withRepository = (manifest, repository, folder = "") => ({
  ...manifest,
  repository: { type: "git", url: `git+${repository}.git`, ...(folder !== "" && { directory: folder }) },
  homepage: folder === "" ? `${repository}#readme` : `${repository}/tree/HEAD/${folder}#readme`,
  bugs: { url: `${repository}/issues` },
});
