/** The @example blocks of the comments in src/. */
import { readFileSync, readdirSync } from "node:fs";

const src = new URL("../../src/", import.meta.url);

export interface Example {
  readonly name: string;
  readonly code: string;
}

/** Returns the examples of a source file, each with the name of the declaration below its comment. */
function examplesOf(text: string): Example[] {
  return [...text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*?@example[\s\S]*?)\*\/\s*([^\n]*)/g)].map(
    ([, comment, declaration]) => {
      const [, name = declaration] = /(?:function|class|interface|const|type) (\w+)/.exec(declaration) ?? [];
      const code = comment
        .slice(comment.indexOf("@example") + "@example".length)
        .split(/\n\s*\*\s*@\w/)[0]
        .replace(/^\s*\* ?/gm, "");
      return { name, code };
    },
  );
}

/** Returns the examples of all source files. */
export const allExamples = (): Example[] =>
  readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => examplesOf(readFileSync(new URL(file, src), "utf8")));
