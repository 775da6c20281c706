interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}
/** Returns the bill of materials of the package at a path of a lockfile. */
export declare function billOf(
  lock: { readonly packages: object },
  path: string,
): { readonly metadata: { readonly component: Component }; readonly components: readonly Component[] };
/** Returns a lockfile with one more package, which depends on the package of the lockfile itself. */
export declare function withPackage(
  lock: { readonly packages: object },
  path: string,
  manifest: object,
): { readonly packages: object };
