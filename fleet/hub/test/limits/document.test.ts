/** The measured cost of documents. */
import { getIntrospectionQuery, parse } from "graphql";
import { describe, expect, it } from "vitest";
import { checkLimits, measure } from "../../src/limits/document.ts";

describe("limits on documents", () => {
  it("let the standard introspection query pass", () => {
    expect(
      checkLimits(
        parse(
          getIntrospectionQuery({
            descriptions: true,
            schemaDescription: true,
            specifiedByUrl: true,
            inputValueDeprecation: true,
          }),
        ),
      ),
    ).not.toBeInstanceOf(Array);
  });

  it("count fragments as often as they are spread", () => {
    expect(measure(parse("{ a: team { ...F ...F } } fragment F on Team { id b: name }"))).toEqual({
      depth: 2,
      fields: 5,
      aliases: 3,
      directives: 0,
    });
  });

  it("count the fields of a fragment that nobody spreads", () => {
    const wide = "devices { nodes { id } } ".repeat(140);
    for (const document of [
      `{ team { id } } fragment U on Team { ${wide} }`,
      // Spread by a fragment that nobody spreads, in either order.
      `{ team { id } } fragment U on Team { ...V } fragment V on Team { ${wide} }`,
      `fragment V on Team { ${wide} } fragment U on Team { ...V } { team { id } }`,
      // Two of one name: a spread names the last one.
      `{ team { ...U } } fragment U on Team { ${wide} } fragment U on Team { id }`,
    ])
      expect(measure(parse(document))).toMatchObject({ depth: 3, fields: 422 });
    expect(measure(parse("{ team { id } } fragment U on Team { a: id @x b: id @x }"))).toEqual({
      depth: 2,
      fields: 4,
      aliases: 2,
      directives: 2,
    });
  });

  it("measure fragments that double 60 times without doing it", () => {
    const parts = Array.from(
      { length: 60 },
      (_, i) => `fragment F${i} on Team { ${i === 59 ? "id" : `...F${i + 1} ...F${i + 1}`} }`,
    );
    const got = measure(parse(`{ team { ...F0 } } ${parts.join(" ")}`));
    expect(got).toMatchObject({ fields: 2 ** 59 + 1 });
  });

  it("name a cycle, what was got and what was expected", () => {
    expect(measure(parse("{ team { ...A } } fragment A on Team { ...B } fragment B on Team { ...A }"))).toBe("cycle");
    const errors = checkLimits(parse(`{ ${Array.from({ length: 21 }, (_, i) => `a${i}: team { id }`).join(" ")} }`));
    expect(errors).toHaveLength(1);
    expect((errors as Error[])[0]?.message).toBe("Query too large: aliases: got 21, expected at most 20.");
  });
});
