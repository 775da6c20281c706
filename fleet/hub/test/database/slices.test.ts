/** Work in slices: each row once, a bounded number of rows in a statement, and a turn for other requests between. */
import { expect, it } from "vitest";
import { changeInTurns, eachSlice, isInSlice, ROWS_CHANGED } from "../../src/database/slices.ts";
import { onEmptyDatabases } from "../support/hub.ts";

onEmptyDatabases("slices", (db) => {
  const fill = (count: number): Promise<unknown> =>
    db().write(async (tx) => {
      for (let i = 0; i < count; i++)
        await tx.all("INSERT INTO leases (name, owner, until) VALUES (?, 'me', 0)", [String(i).padStart(4, "0")]);
    });
  const leases = { id: "name", from: "FROM leases WHERE owner = ?", params: ["me"] };

  it.each([
    [0, 3, [0]],
    [7, 3, [3, 3, 1]],
    [6, 3, [3, 3, 0]],
  ])("%i rows in slices of %i", async (count, rows, sizes) => {
    await fill(count);
    const found: string[][] = [];
    await eachSlice(db(), { ...leases, rows }, async (slice) => {
      const text = `SELECT name FROM leases WHERE ${isInSlice("name")} ORDER BY name`;
      found.push((await db().all<{ name: string }>(text, slice)).map(({ name }) => name));
    });
    expect(found.map(({ length }) => length)).toEqual(sizes);
    expect(found.flat()).toEqual(Array.from({ length: count }, (_, i) => String(i).padStart(4, "0")));
  });

  it("give other work a turn", async () => {
    await fill(5);
    let turns = 0;
    let isOver = false;
    const count = (): void => void (++turns, isOver || setImmediate(count));
    const before: number[] = [];
    setImmediate(count);
    await eachSlice(db(), { ...leases, rows: 1 }, () => Promise.resolve(void before.push(turns)));
    isOver = true;
    expect(before).toHaveLength(6);
    expect(new Set(before).size).toBe(6);
  });

  it("change all rows, a bounded number in a statement", async () => {
    await fill(2 * ROWS_CHANGED + 1);
    const name = `SELECT name FROM leases WHERE until = 0 LIMIT ${ROWS_CHANGED}`;
    let writes = 0;
    const inner = db();
    const counting = Object.assign(Object.create(inner) as typeof inner, {
      write: (...given: Parameters<typeof inner.write>) => (writes++, inner.write(...given)),
    });
    await changeInTurns(counting, `UPDATE leases SET until = ? WHERE name IN (${name})`, [1]);
    expect(writes).toBe(3);
    expect(await db().all("SELECT name FROM leases WHERE until = 0")).toEqual([]);
  });
});
