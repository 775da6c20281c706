import { expect, test } from "vitest";
import { createLogger } from "boxwright-service/log";

test("a line has its level as a word, its time in ISO 8601, and no secret of an error", () => {
  const lines: string[] = [];
  const redact = (text: string): string => text.replaceAll("secret", "***");
  const log = createLogger("info", { destination: { write: (line) => void lines.push(line) }, redact });
  log.debug("left out");
  log.warn({ err: new Error("secret", { cause: "secret" }), camera: "door" }, "told");
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain("secret");
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: "warn",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    err: { name: "Error", message: "***", cause: "***" },
    camera: "door",
    msg: "told",
  });
});
