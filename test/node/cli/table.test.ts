import { expect, test } from "vitest";
import { table } from "../../../src/node/cli/table.ts";

test("aligns numbers to the right and words to the left, and replaces control characters", () => {
  expect(
    table(
      ["word", "n"],
      [
        ["a", "1.5"],
        ["猫", "-10"],
      ],
    ),
  ).toBe("word    n\na     1.5\n猫    -10\n");
  // nothing that a terminal obeys
  expect(table(["word"], [["\u001b[2Ja\nb\tc\u009b\u202ed"]])).toBe("word\n�[2Ja�b�c��d\n");
});
