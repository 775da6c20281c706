import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../src/testing/folder.ts";
import { checkRows } from "../../src/testing/rows.ts";

const SOURCE = `declare const tx: { all<T>(sql: string): T[] };
const FROM = "FROM devices";
tx.all<{ id: string; label: string }>(\`SELECT id, name AS label \${FROM}\`);
tx.all<{ id: string; label: string }>(\`SELECT id, name \${FROM}\`);
tx.all<{ id: string }>("SELECT identifier FROM devices");
tx.all<{ id: string }>("SELECT id FROM devices WHERE id IN " + String(tx));
`;

test("a query without the columns that its caller reads is told, and one of columns that are not there", () => {
  const { path } = temporaryFolder();
  mkdirSync(join(path, "src"));
  writeFileSync(join(path, "src/a.ts"), SOURCE);
  const project = join(path, "tsconfig.json");
  writeFileSync(project, '{ "include": ["src"] }');
  const sql = (text: string): string => `CREATE TABLE devices (id ${text}, name ${text})`;
  expect(checkRows(project, [{ version: 1, name: "devices", sql }])).toEqual({
    ...{ compared: 3, skipped: 1 },
    problems: ["a.ts:4: got id, name, expected label", "a.ts:5: no such column: identifier"],
  });
});
