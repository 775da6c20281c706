/**
 * Writes docs/api.txt: every declaration in the package's types, without comments and sorted by name, and the names
 * that each entry exports. Every change of the public interface thus changes that file. Run this script after a build.
 * `--check` only compares.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";

/** The entries with types: all of `exports` in package.json. */
const { exports: entries } = JSON.parse(readFileSync("package.json", "utf8"));
const ENTRIES = Object.entries(entries).flatMap(([name, to]) => {
  const types = to.types ?? to.require?.types;
  return types ? [[`boxwright${name.slice(1)}`, types.slice(2)]] : [];
});

const printer = ts.createPrinter({ removeComments: true });
const declarations = new Map();
const sources = new Map();

/** Collects the declarations of a file and of its imports. */
function visit(file) {
  if (sources.has(file)) return;
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2022, true);
  sources.set(file, source);
  for (const s of source.statements) {
    if (ts.isImportDeclaration(s) || ts.isExportDeclaration(s)) {
      const from = s.moduleSpecifier?.text;
      if (from?.startsWith("./")) visit(`dist/${from.slice(2).replace(/\.([cm])js$/, ".d.$1ts")}`);
      continue;
    }
    const name = s.name?.text ?? s.declarationList?.declarations[0].name.text;
    if (name === undefined)
      throw new Error(`${file}: got a statement without a name: ${s.getText().slice(0, 80)}`);
    const text = printer.printNode(ts.EmitHint.Unspecified, s, source).replace(/^(export )?(declare )?/, "");
    const known = declarations.get(name);
    declarations.set(name, known === undefined || known === text ? text : `${known}\n${text}`);
  }
}

/** Names that an entry exports. */
function exported(file) {
  visit(file);
  const names = [];
  for (const s of sources.get(file).statements)
    if (ts.isExportDeclaration(s))
      for (const e of s.exportClause?.elements ?? [])
        names.push(`${e.isTypeOnly ? "type " : ""}${e.name.text}`);
  return names.sort((a, b) => (a.replace("type ", "") < b.replace("type ", "") ? -1 : 1));
}

let text =
  "Written by scripts/api.mjs from the built types. A change here is a change of the public interface.\n";
for (const [entry, file] of ENTRIES) text += `\n## ${entry}\n${exported(file).join("\n")}\n`;
text += "\n## declarations\n";
for (const name of [...declarations.keys()].sort()) text += `\n${declarations.get(name)}\n`;

const path = "docs/api.txt";
if (!process.argv.includes("--check")) writeFileSync(path, text);
else {
  const committed = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (committed !== text) {
    const had = new Set(committed.split("\n"));
    const has = new Set(text.split("\n"));
    for (const l of had) if (!has.has(l)) console.error(`- ${l}`);
    for (const l of has) if (!had.has(l)) console.error(`+ ${l}`);
    console.error(
      "docs/api.txt: the public interface is another; if that is meant, run npm run api and say so in CHANGELOG.md",
    );
    process.exit(1);
  }
  console.log(`docs/api.txt: as built, ${declarations.size} declarations`);
}
