/** Runs tests against the mutant that MUTANT describes: a source with another text, or kernels of another folder. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

const { tests, file, textFile, kernels, engines } = JSON.parse(process.env.MUTANT);

/** Replaces `#kernels`. Without a folder there is no WebAssembly. */
const kernelsModule = `
import { readFileSync } from "node:fs";
const folder = ${JSON.stringify(kernels && resolve(kernels))};
const read = (prefix) => (kind) => folder && new Uint8Array(readFileSync(folder + "/" + prefix + kind + ".wasm"));
export const [decode, masks, prepare] = ["", "masks.", "prepare."].map(read);
`;

export default defineConfig({
  plugins: [
    {
      name: "mutant",
      enforce: "pre",
      resolveId: (id) => (id === "#kernels" ? "\0kernels" : undefined),
      load(id) {
        if (id === "\0kernels") return kernelsModule;
        if (id === resolve("test/support/engines.ts"))
          return `export const engines = ${JSON.stringify(engines)}; export const shareOf = (_, cases) => cases;`;
        return file && id === resolve(file) ? readFileSync(textFile, "utf8") : undefined;
      },
    },
  ],
  test: {
    include: tests,
    bail: 1,
    isolate: false,
    maxWorkers: 1,
    // In the order of the list, fastest first.
    sequence: {
      sequencer: class {
        shard = (files) => files;
        sort = (files) => files.sort((a, b) => placeOf(a) - placeOf(b));
      },
    },
    testTimeout: 600_000,
  },
});

const placeOf = ({ moduleId }) => tests.findIndex((test) => moduleId.endsWith(test));
