/** Returns the manifest with `repository`, `homepage` and `bugs` of this repository. */
export declare function withRepository(
  manifest: object,
  repository: string,
  folder?: string,
): { readonly repository: { readonly url: string }; readonly homepage: string; readonly bugs: object };
