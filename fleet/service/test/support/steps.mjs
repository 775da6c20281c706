/** Three steps: frames, a column for each, and its value. The last ones take long enough for a kill. */
export const FRAMES = 60_000;

const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${FRAMES - 1})`;
const sqlOf = {
  1: (text) => `CREATE TABLE frames (id ${text} PRIMARY KEY);
${numbers} INSERT INTO frames (id) SELECT 'frame-' || n FROM numbers`,
  2: (text) => `ALTER TABLE frames ADD COLUMN note ${text}`,
  3: () => "UPDATE frames SET note = 'moving'; UPDATE frames SET note = 'moved'",
};

/** @type {import("../../src/migrate.ts").Migration[]} */
export const STEPS = Object.entries(sqlOf).map(([version, sql]) => ({
  version: Number(version),
  name: `step ${version}`,
  sql: (text) => {
    // Written at once: the kill waits for it.
    if (process.argv[2] !== undefined) process.stdout.write(`step ${version}\n`);
    return sql(text);
  },
}));
