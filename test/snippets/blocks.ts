/** Code blocks of the project's pages, as functions that a test can call. */
import { readFileSync, readdirSync } from "node:fs";

export interface Snippet {
  /** Path of the page from the project's root. */
  readonly page: string;
  readonly code: string;
}

const root = new URL("../../", import.meta.url);
const FOLDERS = ["docs", "examples", "site", "bench", "embedded", "fleet"];

/** Paths of all pages for users. The folders of packages, and those that a build writes, are left out. */
function pages(): string[] {
  const inside = (folder: string): string[] =>
    readdirSync(new URL(`${folder}/`, root), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory())
        return /^(\.|node_modules$|dist$|coverage$)/.test(entry.name) ? [] : inside(path);
      return entry.name.endsWith(".md") ? [path] : [];
    });
  return ["README.md", "CONTRIBUTING.md", ...FOLDERS.flatMap(inside)];
}

/** Returns the blocks of JavaScript, TypeScript and HTML of every page, in order. */
export function allSnippets(): Snippet[] {
  return pages().flatMap((page) => {
    const blocks = readFileSync(new URL(page, root), "utf8").matchAll(
      /^ *```(?:js|jsx|ts|tsx|javascript|typescript|html|mjs|cjs)\b.*\n([\s\S]*?)^ *```/gm,
    );
    return [...blocks].map(([, code]) => ({ page, code }));
  });
}

const IMPORT = /^import (?:\* as (\w+)|(\{[^}]*\})|(\w+)) from "([^"]+)";.*$/gm;

/** Returns the names that a block declares at its top level. */
function declaredIn(code: string): string[] {
  const plain = [...code.matchAll(/^(?:const|let|(?:async )?function) (\w+)/gm)].map(([, name]) => name);
  const taken = [...code.matchAll(/^const \{([^}]*)\} =/gm)].flatMap(([, list]) =>
    list.split(",").map((part) => /\w+$/.exec(part.trim())?.[0] ?? ""),
  );
  return [...plain, ...taken];
}

/**
 * Returns the source of a function that runs a block: `(given, load) => what the block declares`. The block finds
 * `names` of `given` as variables, and `load` answers its imports.
 */
export function functionOf(code: string, names: readonly string[]): string {
  const imported = code.replace(IMPORT, (_, all?: string, some?: string, one?: string, from?: string) => {
    const taken = all ?? some?.replaceAll(" as ", ": ") ?? `{ default: ${one} }`;
    return `const ${taken} = await load(${JSON.stringify(from)});`;
  });
  const body = imported.replace(/^export (?=async |function |const )/gm, "");
  // A block of its own, so that the snippet may declare a name that is given too.
  return `async ({ ${names.join(", ")} }, load) => {\n{\n${body}\nreturn { ${declaredIn(body).join(", ")} };\n}\n}`;
}

/** Runs a block in this process. Throws for an import that `modules` does not have. */
export async function runSnippet(
  code: string,
  given: Readonly<Record<string, unknown>>,
  modules: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const run = new Function(`return ${functionOf(code, Object.keys(given))}`)() as (
    given: object,
    load: (name: string) => unknown,
  ) => Promise<Record<string, unknown>>;
  return run(given, (name) => {
    if (!Object.hasOwn(modules, name)) throw new Error(`The test has no module ${JSON.stringify(name)}.`);
    return modules[name];
  });
}
