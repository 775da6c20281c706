/**
 * Makes the bill of materials of a package, in CycloneDX, from a lockfile. `npm sbom --omit dev` would omit packages
 * that are also development dependencies.
 */
import { posix } from "node:path";

/** Returns the paths of all lockfile packages that the package at a path needs at run time. */
export function neededBy(packages, path) {
  const needed = new Set();
  /** Returns the entry that Node would resolve from a path; undefined for a missing optional package. */
  const resolve = (name, from) => {
    for (let folder = from; ; folder = posix.dirname(folder)) {
      const place = posix.join(folder, "node_modules", name);
      if (packages[place]) return packages[place].link ? packages[place].resolved : place;
      if (folder === ".") return undefined;
    }
  };
  const visit = (from) => {
    const {
      dependencies,
      optionalDependencies,
      peerDependencies,
      peerDependenciesMeta = {},
    } = packages[from];
    // Omit the development packages of a linked package, which has a lockfile of its own.
    for (const name of Object.keys({ ...peerDependencies, ...dependencies, ...optionalDependencies })) {
      if (peerDependenciesMeta[name]?.optional) continue;
      const place = resolve(name, from);
      if (place === undefined || needed.has(place)) continue;
      needed.add(place);
      visit(place);
    }
  };
  visit(path);
  return [...needed].sort();
}

function component(packages, path) {
  const { name = path.replace(/^.*node_modules\//, ""), version, license, integrity } = packages[path];
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [algorithm, hash] = integrity?.split("-") ?? [];
  return {
    ...{ type: "library", "bom-ref": purl, name, version, purl },
    ...(license && { licenses: [{ license: { name: license } }] }),
    ...(algorithm === "sha512" && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }],
    }),
  };
}

/** Returns the bill of the package at a lockfile path; "" is the lockfile's own package. */
export const billOf = ({ packages }, path) => ({
  ...{ bomFormat: "CycloneDX", specVersion: "1.5", version: 1 },
  metadata: { component: component(packages, path) },
  components: path === "" ? [] : neededBy(packages, path).map((place) => component(packages, place)),
});

/** Returns a lockfile with one more package, which depends on the lockfile's own package. */
export const withPackage = ({ packages }, path, { name, version, license, dependencies }) => {
  const { "": root } = packages;
  const itself = { version: root.version, license: root.license };
  return {
    packages: {
      ...packages,
      [`node_modules/${root.name}`]: itself,
      [path]: { name, version, license, dependencies },
    },
  };
};
