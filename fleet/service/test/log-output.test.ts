import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { Child } from "../src/testing/child.ts";

const BUILT = fileURLToPath(new URL("../dist/log-output.js", import.meta.url));
const LINES = 20_000;
/** All lines are written before a reader can take one, and the last one when the reader has taken what waited. */
const SCRIPT = `
const { LogOutput } = await import(${JSON.stringify(BUILT)});
const output = new LogOutput(1);
process.stdout.once("drain", () => output.write("last\\n"));
for (let n = 0; n < ${LINES}; n++) output.write("x".repeat(99) + "\\n");
`;

afterAll(() => Child.killAll());

it("counts the lines that no reader took in time, and tells their count when one takes lines again", async () => {
  const { stdout } = await new Child([process.execPath, "--input-type=module", "-e", SCRIPT]).ended;
  const lines = stdout.split("\n").filter((line) => line !== "");
  const told = lines.findIndex((line) => line.startsWith("{"));
  const { level, lines: lost } = JSON.parse(lines[told]!) as { level: string; lines: number };
  expect(level).toBe("warn");
  expect(lost).toBeGreaterThan(0);
  expect([told + lost, lines.slice(told + 1)]).toEqual([LINES, ["last"]]);
});
