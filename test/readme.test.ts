/** The README's first code block, run as it stands (the import turned to the source). */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";

test("the usage block prints what it says", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const block = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const promised = /^\/\/ (cat .*)$/m.exec(block)?.[1] ?? "";
  expect(promised).toContain("cat 0.72");
  const file = new URL("./.readme.tmp.ts", import.meta.url);
  writeFileSync(file, `// @ts-nocheck\n${block.replace('"boxwright"', '"../src/index.ts"')}`);
  const printed: unknown[][] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...args: unknown[]) => void printed.push(args));
  try {
    await import(file.href);
  } finally {
    log.mockRestore();
    rmSync(file);
  }
  expect(printed).toHaveLength(1);
  const [label, confidence, box] = printed[0] as [string, string, Record<string, number>];
  expect(`${label} ${confidence}`).toBe("cat 0.72");
  const numbers = [...promised.matchAll(/(x_min|y_min|x_max|y_max): ([\d.]+)/g)];
  expect(numbers).toHaveLength(4);
  for (const [, name, value] of numbers) expect(box[name]).toBeCloseTo(Number(value), 3);
});
