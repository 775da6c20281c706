/**
 * Compares the row types in the code with the columns in the database. Finds each `all<Row>(sql)` whose SQL the
 * compiler knows, prepares the SQL against a database with the whole schema, and compares the columns with the fields
 * of `Row`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import Libsql from "libsql";
import ts from "typescript";
import type { Migration } from "../migrate.ts";
import { messageOf } from "../errors.ts";

export interface RowsChecked {
  /** Number of compared queries. */
  readonly compared: number;
  /** Number of queries that cannot be compared: their text is built at run time, or they are for PostgreSQL alone. */
  readonly skipped: number;
  /** A line for each query whose columns differ from the type. */
  readonly problems: readonly string[];
}

/** Returns the text of a constant expression, or undefined. */
function textOf(node: ts.Expression, checker: ts.TypeChecker): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    const parts = node.templateSpans.map(({ expression, literal }) => {
      const text = textOf(expression, checker);
      return text === undefined ? undefined : text + literal.text;
    });
    return parts.includes(undefined) ? undefined : node.head.text + parts.join("");
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left, checker), textOf(node.right, checker)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  if (!ts.isIdentifier(node)) return undefined;
  let symbol = checker.getSymbolAtLocation(node);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declared = symbol?.valueDeclaration;
  if (!declared || !ts.isVariableDeclaration(declared) || !(ts.getCombinedNodeFlags(declared) & ts.NodeFlags.Const))
    return undefined;
  return declared.initializer && textOf(declared.initializer, checker);
}

/** @param project path of a tsconfig.json */
export function checkRows(project: string, steps: readonly Migration[]): RowsChecked {
  const config = ts.getParsedCommandLineOfConfigFile(
    project,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  )!;
  const root = join(project, "..", "src");
  const program = ts.createProgram(
    config.fileNames.filter((name) => name.startsWith(root)),
    config.options,
  );
  const checker = program.getTypeChecker();
  const folder = mkdtempSync(join(tmpdir(), "boxwright-rows-"));
  const db = new Libsql(join(folder, "rows.db"));
  const found = { compared: 0, skipped: 0, problems: [] as string[] };

  const compare = (call: ts.CallExpression, row: ts.TypeNode, file: ts.SourceFile): void => {
    const sql = call.arguments[0] && textOf(call.arguments[0], checker);
    // Skip queries of PostgreSQL's own tables, which SQLite does not have.
    if (sql === undefined || /\bpg_/.test(sql)) return void found.skipped++;
    found.compared++;
    const line = file.getLineAndCharacterOfPosition(call.getStart()).line + 1;
    const where = `${relative(root, file.fileName)}:${line}`;
    try {
      const columns = db
        .prepare(sql)
        .columns()
        .map(({ name }) => name);
      const type = checker.getTypeFromTypeNode(row);
      const lacking = checker
        .getPropertiesOfType(type)
        .map(({ name }) => name)
        .filter((name) => !columns.includes(name));
      if (lacking.length > 0)
        found.problems.push(`${where}: got ${columns.join(", ")}, expected ${lacking.join(", ")}`);
    } catch (error) {
      found.problems.push(`${where}: ${messageOf(error)}`);
    }
  };

  try {
    db.exec("CREATE TABLE service_state (name TEXT PRIMARY KEY, value BIGINT NOT NULL)");
    db.exec(
      "CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)",
    );
    for (const { sql } of steps) db.exec(sql("TEXT"));
    for (const file of program.getSourceFiles()) {
      if (!file.fileName.startsWith(root)) continue;
      const visit = (node: ts.Node): void => {
        if (
          ts.isCallExpression(node) &&
          ts.isPropertyAccessExpression(node.expression) &&
          node.expression.name.text === "all"
        ) {
          const row = node.typeArguments?.[0];
          if (row) compare(node, row, file);
        }
        ts.forEachChild(node, visit);
      };
      visit(file);
    }
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
  return found;
}
