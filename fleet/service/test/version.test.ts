import { pathToFileURL } from "node:url";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../src/testing/folder.ts";
import { printVersion } from "../src/version.ts";

test("the version is printed if nothing else is asked for", () => {
  const { path } = temporaryFolder();
  mkdirSync(join(path, "dist/cli"), { recursive: true });
  writeFileSync(join(path, "package.json"), '{ "version": "1.2.3" }');
  const main = pathToFileURL(join(path, "dist/cli/main.js")).href;
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  expect(printVersion(main, ["--version"])).toBe(true);
  expect(write.mock.calls).toEqual([["1.2.3\n"]]);
  expect(printVersion(main, ["serve", "--version"])).toBe(false);
  expect(printVersion(main, [])).toBe(false);
  expect(write).toHaveBeenCalledTimes(1);
});
