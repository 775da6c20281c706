import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import * as F from "../../src/planfile/format.ts";

test("the C header has the constants of abi.ts and format.ts", () => {
  const script = fileURLToPath(new URL("../../scripts/embedded-header.mjs", import.meta.url));
  const header = execFileSync(process.execPath, [script], { encoding: "utf8" });
  const defined = [...header.matchAll(/^#define BXW_(\w+) (-?\d+)/gm)].map(
    (m) => [m[1], Number(m[2])] as const,
  );
  expect(Object.fromEntries(defined)).toEqual({ ...A, ...F });
});
