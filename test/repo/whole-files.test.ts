/** CI runs a test file twice only if its tests differ from run to run (`test/fresh/whole-files.mjs`). */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findWholeFiles } from "../fresh/whole-files.mjs";

const root = new URL("../../", import.meta.url);
const whole = findWholeFiles();
const all = readdirSync(new URL("test", root), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name.replaceAll("\\", "/")}`);

test("a file with a long tail, or with tests that a machine skips, is none of those that run once", () => {
  const varying = all.filter((file) =>
    /isThorough|repeats\(|describeShared\(|describePages\(|test\.skipIf\(/.test(
      readFileSync(new URL(file, root), "utf8").replaceAll(/^ *(\/\/|\*).*$/gm, ""),
    ),
  );
  expect(varying.length).toBeGreaterThan(40);
  expect(varying.filter((file) => whole.includes(file) && !file.endsWith("/whole-files.test.ts"))).toEqual(
    [],
  );
});

test("a file varies if a helper of its helpers does", () => {
  // Its cases are shared out by `engine-shares.ts`, which reads `effort.ts`.
  expect(whole).not.toContain("test/engine/boxes.test.ts");
  expect(whole).toContain("test/core/json.test.ts");
  expect(whole.length).toBeGreaterThan(100);
  expect(all).toEqual(expect.arrayContaining(whole));
});
