/**
 * Every type that an entry exports is part of the signature of a value that the entry exports, directly or by way of
 * others.
 */
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const entryFile = (name: string): string =>
  fileURLToPath(new URL(`../../src/entries/${name}.ts`, import.meta.url));

/** Returns the exported types of a file that no exported value leads to, and how many types it exports. */
function unreachable(program: ts.Program, file: string): { lost: string[]; types: number } {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile) as ts.Symbol;
  const resolve = (s: ts.Symbol): ts.Symbol =>
    s.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(s) : s;
  const exported = checker.getExportsOfModule(module).map(resolve);
  const isValue = (s: ts.Symbol): boolean => (s.flags & ts.SymbolFlags.Value) !== 0;
  const seen = new Set<ts.Symbol>();

  /** Follows every name in the declarations of a symbol, but for the bodies of functions and initial values. */
  const follow = (symbol: ts.Symbol): void => {
    if (seen.has(symbol)) return;
    seen.add(symbol);
    const visit = (node: ts.Node): void => {
      if (ts.isBlock(node)) return;
      if (ts.isIdentifier(node)) {
        const named = checker.getSymbolAtLocation(node);
        if (named) follow(resolve(named));
      }
      ts.forEachChild(node, visit);
    };
    for (const declaration of symbol.declarations ?? [])
      if (declaration.getSourceFile().fileName.includes("/src/")) visit(declaration);
  };
  exported.filter(isValue).forEach(follow);
  const types = exported.filter((s) => !isValue(s));
  return { lost: types.filter((s) => !seen.has(s)).map((s) => s.name), types: types.length };
}

const names = ["core", "index", "node", "plan", "pool"];
const program = ts.createProgram(names.map(entryFile), {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  types: ["node"],
});

test.each(names)("src/entries/%s.ts", (name) => {
  const { lost, types } = unreachable(program, entryFile(name));
  expect(types).toBeGreaterThan(0);
  expect(lost).toEqual([]);
});

test("a type that nothing mentions is found", () => {
  const file = fileURLToPath(new URL("../../src/heads/head.ts", import.meta.url));
  // this file exports types only
  expect(unreachable(program, file).lost).toContain("Interpretation");
});
