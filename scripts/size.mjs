/** The whole API imported, bundled, minified and gzipped, both binaries inside: checked against the limit. */
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 30 * 1024;

const { outputFiles } = await build({
  stdin: { contents: 'import * as boxwright from "./dist/index.mjs"; globalThis.boxwright = boxwright;', resolveDir: "." },
  bundle: true,
  minify: true,
  format: "esm",
  write: false,
});
const bytes = outputFiles[0].contents;
const packed = gzipSync(bytes, { level: 9 }).length;
console.log(`whole API, minified: ${bytes.length} bytes, gzipped ${packed} of ${LIMIT}`);
process.exit(packed <= LIMIT ? 0 : 1);
