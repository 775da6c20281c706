/** The conformance cases with their tensors inside, for runtimes that read no files. Runs in Node. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { conformanceCases } from "./cases.mjs";

const root = new URL("../../", import.meta.url);

/** Returns the cases with each tensor's bytes as base64 in place of its file. */
export const loadCases = () =>
  conformanceCases().map((c) => ({
    ...c,
    tensors: c.tensors.map(({ file, ...tensor }) => ({
      ...tensor,
      base64: gunzipSync(readFileSync(new URL(file, root))).toString("base64"),
    })),
  }));

/** Returns the cases with their plan files inside, as base64. `compilePlan`: the function of `boxwright/node`. */
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
    // Boxes may rest on values of an output: prior boxes that the network gives.
    const values = Object.fromEntries(
      c.tensors.filter((t) => t.type === "f32").map((t) => [t.name, floats(t)]),
    );
    const plan = compilePlan(c.config, { ...c.options, outputs }, values);
    return { ...c, plan: Buffer.from(plan).toString("base64") };
  });
