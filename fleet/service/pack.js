/**
 * `node ../service/pack.js in` copies the licence and this package into the part to pack, since npm does not bundle a
 * package that is only a link of the workspace. `out` deletes both copies: otherwise, the part would later run on an
 * old copy. Both commands delete the part's node_modules, which has no other content: all dependencies are in the
 * node_modules of the workspace.
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
  // Leave out the dependencies: npm would treat them as bundled too, and a global installation would then lack them.
  // The part itself depends on all of them.
  const { name, version, license, type, exports } = JSON.parse(readFileSync(own("package.json"), "utf8"));
  writeFileSync(`${target}/package.json`, JSON.stringify({ name, version, license, type, exports }));
  // Leave out `testing`, which only tests use.
  cpSync(own("dist"), `${target}/dist`, { recursive: true, filter: (path) => basename(path) !== "testing" });
}
