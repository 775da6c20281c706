import { expect, test } from "vitest";
import { connectionLimitProblem, explainLimit, limitProblem, mostFiles } from "../src/limits.ts";

const limitsOf = (files: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units     
Max processes             128                  128                  processes 
Max open files            ${files}                 ${files}                 files     
`;

test("the limit of open files is read, and a low one is told with what to do", () => {
  expect(mostFiles(limitsOf("64"))).toBe(64);
  expect(mostFiles(limitsOf("unlimited"))).toBe(undefined);
  expect(limitProblem(limitsOf("64"))).toBe(
    "open files: got a limit of 64, expected at least 256; raise it with ulimit -n, or with LimitNOFILE in the unit",
  );
  expect(limitProblem(limitsOf("256"))).toBe(undefined);
  expect(connectionLimitProblem(20_000, limitsOf("16384"))).toMatch(/got a limit of 16384, expected 20256/);
  expect(connectionLimitProblem(20_000, limitsOf("20256"))).toBe(undefined);
});

test("errors that a limit causes have a sentence, and others have none", () => {
  expect(explainLimit(Object.assign(new Error("x"), { code: "EMFILE" }))).toMatch(/^open files: .*ulimit -n/);
  expect(explainLimit(new Error("x"))).toBe(undefined);
  expect(explainLimit(undefined)).toBe(undefined);
});
