/**
 * `node ../service/pack.js in` puts the licence and a copy of this package into the part that is packed, since npm
 * bundles what stands there and follows no link of a workspace. `out` takes both away: the part would run on an old
 * copy. A part has nothing else in its own node_modules: the workspace has one for all.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

const target = "node_modules/boxwright-service";
rmSync("node_modules", { recursive: true, force: true });
rmSync("LICENSE", { force: true });
if (process.argv[2] === "in") {
  cpSync(fileURLToPath(new URL("../../LICENSE", import.meta.url)), "LICENSE");
  mkdirSync(target, { recursive: true });
  const own = (name) => fileURLToPath(new URL(name, import.meta.url));
  // npm treats the dependencies of a bundled package as bundled too, so a global installation would leave these out.
  // The part itself depends on all of them.
  const { name, version, license, type, exports } = JSON.parse(readFileSync(own("package.json"), "utf8"));
  writeFileSync(`${target}/package.json`, JSON.stringify({ name, version, license, type, exports }));
  // `testing` is what the tests share.
  cpSync(own("dist"), `${target}/dist`, { recursive: true, filter: (path) => basename(path) !== "testing" });
}
