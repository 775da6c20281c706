/** The time by which rows are deleted, under clocks that are wrong before, during and after a start. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogger } from "../src/log.ts";
import { migrate } from "../src/migrate.ts";
import { Sqlite } from "../src/sqlite.ts";
import { temporaryFolder } from "../src/testing/folder.ts";
import { TrustedClock } from "../src/trusted-clock.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
const NOW = Date.UTC(2026, 0, 1);
let db: Sqlite;
let clock: number;
let ran: number;
let newest: number | null;

beforeEach(async () => {
  db = new Sqlite(join(temporaryFolder().path, "t.db"), { service: "test" });
  await migrate(db, { service: "test", steps: [] });
  [clock, ran, newest] = [NOW, 0, null];
});
afterEach(() => db.close());

const start = (): Promise<TrustedClock> =>
  TrustedClock.open({
    ...{ db, newest: () => Promise.resolve(newest), now: () => clock, elapsed: () => ran },
    log: createLogger("silent"),
  });
const daysOff = async (trusted: TrustedClock): Promise<number> => ((await trusted.time()) - NOW) / DAY;

test("a right clock is trusted, and a pause is caught up while the process runs", async () => {
  const first = await start();
  expect(await daysOff(first)).toBe(0);
  [clock, ran] = [clock + DAY, ran + DAY];
  expect(await daysOff(first)).toBe(1);
  clock += 3 * DAY;
  const later = await start();
  expect(await daysOff(later)).toBe(1);
  [clock, ran] = [clock + DAY, ran + DAY];
  expect(await daysOff(later)).toBe(3);
  [clock, ran] = [clock + 5 * DAY, ran + 5 * DAY];
  expect(await daysOff(later)).toBe(10);
});

test("a clock that is ahead moves nothing, nor do rows of that time, however often the process starts", async () => {
  const first = await start();
  clock += 100 * DAY;
  newest = clock;
  expect(await daysOff(first)).toBe(0);
  for (let i = 0; i < 10; i++) expect(await daysOff(await start())).toBe(0);
  clock += 8000 * 365 * DAY;
  expect(await daysOff(await start())).toBe(0);
});

test("a clock that runs ten times as fast moves it twice as fast", async () => {
  const first = await start();
  for (let i = 0; i < 10; i++) [clock, ran] = [clock + 10 * DAY, ran + DAY];
  expect(await daysOff(first)).toBe(20);
});

test("a clock near 1970 is not remembered: all is well once it is set", async () => {
  await start();
  clock = 1000;
  expect(await (await start()).time()).toBe(1000);
  clock = NOW + HOUR;
  const right = await start();
  ran += HOUR;
  expect(await daysOff(right)).toBe(1 / 24);
});

test("a first start under a clock that is ahead is forgotten once the clock was right for an hour", async () => {
  clock += 100 * DAY;
  await start();
  clock = NOW;
  const second = await start();
  expect(await daysOff(second)).toBe(0);
  for (let i = 0; i < 3; i++) {
    [clock, ran] = [clock + HOUR, ran + HOUR];
    await second.time();
  }
  clock += 100 * DAY;
  expect(await daysOff(await start())).toBeLessThan(1);
});
