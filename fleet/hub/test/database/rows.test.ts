/** Queries give the columns that the code reads: a renamed column fails here. */
import { fileURLToPath } from "node:url";
import { checkRows } from "boxwright-service/testing/rows";
import { expect, test } from "vitest";
import { migrations } from "../../src/database/migrations.ts";

const project = fileURLToPath(new URL("../../tsconfig.json", import.meta.url));

test("every query gives the columns that its caller reads", () => {
  const { compared, skipped, problems } = checkRows(project, migrations);
  expect(problems).toEqual([]);
  expect(compared).toBeGreaterThan(skipped);
});
