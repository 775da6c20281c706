/** The count on disk that survives a crash in the middle of a write. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Cursor } from "../../src/spool/cursor.ts";
import { realDisk } from "../../src/spool/disk.ts";
import { temporaryFolder } from "../support/folder.ts";

/** Bytes of one of the two places. */
const PLACE = 32;

it("keeps the count before the last one, whichever place a crash damages", () => {
  const path = join(temporaryFolder(), "cursor");
  const cursor = new Cursor(path, realDisk);
  for (const index of [5, 6, 7]) cursor.move(index);
  cursor.close();
  const whole = readFileSync(path);
  expect(whole).toHaveLength(2 * PLACE);
  const left = [0, PLACE].map((at) => {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1;
    writeFileSync(path, bytes);
    const reopened = new Cursor(path, realDisk);
    reopened.close();
    return reopened.index;
  });
  expect(left.sort()).toEqual([6, 7]);
});

it.skipIf(process.platform === "win32")("is a file that no other user reads", () => {
  const path = join(temporaryFolder(), "cursor");
  new Cursor(path, realDisk).close();
  expect(statSync(path).mode & 0o077).toBe(0);
});
