/** Names and emails that people write. */
import { describe, expect, it } from "vitest";
import { cleanEmail, cleanName } from "../../src/nouns/text.ts";

describe("texts", () => {
  it("takes names that people write and no control characters", () => {
    expect(cleanName("  Küche <1> ", "name")).toBe("Küche <1>");
    for (const right of [
      "👩‍👩‍👧",
      "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
      "می‌خواهم",
      "\u2800x",
    ])
      expect(cleanName(right, "name")).toBe(right);
    const invisible = ["\u200b", "\u3164", "\u200d\u200d", "\u{e0041}", "\u00ad \u2060"];
    for (const wrong of [
      "",
      "   ",
      "x".repeat(101),
      "a\u0000b",
      "a\u202eb",
      "a\nb",
      "a\u2028b",
      "\ud800",
      ...invisible,
    ])
      expect(() => cleanName(wrong, "name")).toThrow(/got .* expected/);
  });

  it("takes no two email addresses that look alike for lack of ink", () => {
    expect(cleanEmail(" Ann@Exämple.org ")).toBe("ann@exämple.org");
    for (const wrong of [
      "ann\u200b@example.org",
      "ann@exam\u00adple.org",
      "ann@example.org\u2060",
      "ann\u{e0061}@example.org",
    ])
      expect(() => cleanEmail(wrong)).toThrow(/got .* expected/);
  });
});
