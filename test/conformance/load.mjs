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

/** The cases with their plan files inside, as base64. `compilePlan`: that of `boxwright/node`. */
export const withPlans = (cases, compilePlan) =>
  cases.map((c) => {
    const outputs = c.tensors.map(({ name, type, dims, scale, zeroPoint }) => ({
      name,
      type,
      dims,
      scale,
      zeroPoint,
    }));
    const floats = (t) => new Float32Array(new Uint8Array(Buffer.from(t.base64, "base64")).buffer);
    // whatever boxes may rest on
    const values = Object.fromEntries(
      c.tensors.filter((t) => t.type === "f32").map((t) => [t.name, floats(t)]),
    );
    const plan = compilePlan(c.config, { ...c.options, outputs }, values);
    return { ...c, plan: Buffer.from(plan).toString("base64") };
  });
