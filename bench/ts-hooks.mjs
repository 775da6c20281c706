/**
 * Lets `node` run the TypeScript of this folder unchanged: types are erased (the sources use `erasableSyntaxOnly`),
 * nothing else is rewritten. So no bundler adds helpers to a measured loop. Node 22.18 and later erase types
 * themselves; Node 20 does not.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const cache = join(tmpdir(), `boxwright-bench-js-${userInfo().uid}`);

export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const source = readFileSync(fileURLToPath(url), "utf8");
  const file = join(cache, `${createHash("sha256").update(source).digest("hex")}.mjs`);
  if (!existsSync(file)) {
    // Load the compiler only if the cache has no entry: loading takes longer than most measurements.
    const { default: ts } = await import("typescript");
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { target: "es2022", module: "esnext", verbatimModuleSyntax: true },
    });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.${process.pid}`, outputText);
    renameSync(`${file}.${process.pid}`, file);
  }
  return { format: "module", source: readFileSync(file, "utf8"), shortCircuit: true };
}
