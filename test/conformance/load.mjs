/** The conformance cases with their tensors inside, for runtimes that read no files. Runs in Node. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const root = new URL("../../", import.meta.url);

export function loadCases() {
  const { cases } = JSON.parse(readFileSync(new URL("test/conformance/cases.json", root), "utf8"));
  for (const c of cases)
    for (const t of c.tensors) {
      const file = readFileSync(new URL(t.file, root));
      t.base64 = (t.file.endsWith(".gz") ? gunzipSync(file) : file).toString("base64");
      delete t.file;
    }
  return cases;
}
