/**
 * `node pack.mjs in` copies network, photo and licence into this folder, where npm packs them. `node pack.mjs out`
 * deletes the copies. The originals are files of the tests, so that the repository has each file once.
 */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

for (const name of ["network", "LICENSE"]) rmSync(here(name), { recursive: true, force: true });
if (process.argv[2] === "in") {
  mkdirSync(here("network"));
  cpSync(here("../test/fixtures/models/yolox_nano.onnx"), here("network/yolox_nano.onnx"));
  cpSync(here("../test/fixtures/photos/coffee.jpg"), here("network/coffee.jpg"));
  cpSync(here("../LICENSE"), here("LICENSE"));
}
