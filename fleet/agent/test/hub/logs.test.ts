/** The last lines of the log, as the hub gets them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "boxwright-service/testing/wait";
import { expect, it } from "vitest";
import { RecentLog } from "../../src/core/recent-log.ts";
import { IdentityFile } from "../../src/hub/identity.ts";
import { CONFIG, MODEL } from "../support/echo.ts";
import { setUp } from "../support/device.ts";
import { temporaryFolder } from "../support/folder.ts";

it("go to the hub on demand and after a version that fails, without the credential", async () => {
  const { hub, log, start } = await setUp();
  hub.interval = 1;
  await start();
  await until(() => hub.beats.length > 0, "a heartbeat");
  const [credential] = hub.credentials;
  log.warn({ camera: "door" }, `half of ${credential} and rtsp://admin:hidden-1@cam/x`);
  expect(hub.logs).toEqual([]);
  hub.wantsLog = true;
  await until(() => hub.logs.length === 1, "a log");
  expect(hub.logs[0]).toMatchObject({ reason: "requested" });
  expect(hub.logs[0]!.text).toContain("half of [redacted] and rtsp://[redacted]@cam/x");
  expect(hub.logs[0]!.text).not.toMatch(/hidden-1/);
  hub.give({ etag: "doors@1", model: readFileSync(MODEL), config: { ...CONFIG, family: "yolov99" } });
  await until(() => hub.logs.length === 2, "a log of the failure");
  expect(hub.logs[1]!.reason).toBe("failed");
  expect(hub.reports.at(-1)).toMatchObject({ state: "failed" });
  for (const { text } of hub.logs) expect(text).not.toContain(credential);
});

it("outlive the process, and tell of one that ended in an error", () => {
  const state = temporaryFolder();
  const first = new RecentLog();
  first.add("first password=hidden-1\n");
  first.keep(state, true);
  expect(readFileSync(join(state, "last-log"), "utf8")).not.toContain("hidden-1");
  const second = new RecentLog();
  second.add("second\n");
  expect(second.recall(state)).toBe(true);
  expect(second.text([])).toBe("first password=[redacted]\nsecond");
  second.keep(state, false);
  expect(new RecentLog().recall(state)).toBe(false);
  second.keep(state, true);
  mkdirSync(join(state, "snaps"));
  writeFileSync(join(state, "snaps/a.jpg"), "a");
  new IdentityFile(state).forgetOthers();
  expect(new RecentLog().recall(state)).toBe(false);
  expect(existsSync(join(state, "snaps"))).toBe(false);
  new RecentLog().keep(join(state, "nowhere"), true);
  for (let i = 0; i < 2000; i++) second.add(`line ${i}\n`);
  expect(second.text([]).split("\n")).toHaveLength(500);
});
