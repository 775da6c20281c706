/** A device whose hub was restored from a backup. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { CONFIG, MODEL } from "../support/echo.ts";
import { setUp } from "../support/device.ts";

it("comes back by its own key when the hub takes devices back, and keeps its id", async () => {
  const { folder, hub, lines, start } = await setUp();
  hub.interval = 1;
  const agent = await start();
  await until(() => hub.beats.length > 0, "a heartbeat");
  expect(hub.enrolments[0]!.public_key).toMatch(/^ed25519:/);
  expect(statSync(join(folder, "state/device-key.pem")).mode & 0o777).toBe(0o600);
  // Restored: no credential is known, and nobody has opened the door yet.
  hub.credentials.clear();
  await until(() => lines.some((line) => line.includes("the hub refuses the credential")), "the refusal");
  await agent.close();
  hub.takesBack = true;
  const { length } = hub.beats;
  await start();
  await until(() => hub.beats.length > length + 1, "heartbeats again");
  expect(hub.enrolments).toHaveLength(1);
  expect(JSON.parse(readFileSync(join(folder, "state/hub.json"), "utf8"))).toMatchObject({
    ...{ deviceId: "d1", credential: expect.stringMatching(/^bwd_returned/), previous: null },
  });
  await until(() => lines.filter((line) => line.includes("taken this device back")).length === 1, "one log line");
});

it("goes on with every request once one of them brought it back", async () => {
  const { hub, start } = await setUp();
  hub.interval = 1;
  const application = { etag: "doors@1", model: readFileSync(MODEL), config: CONFIG };
  hub.give(application);
  await start();
  await until(() => hub.reports.length === 1, "a report");
  let asked = 0;
  hub.answer = ({ url }) =>
    url === "/device/return" ? (asked++, { status: 403, body: { errors: [{ message: "not now" }] } }) : null;
  hub.credentials.clear();
  await until(() => asked > 0, "a refusal to take it back");
  const { length } = hub.beats;
  hub.answer = () => null;
  hub.takesBack = true;
  hub.give(application);
  await until(() => hub.beats.length > length, "heartbeats again");
  await until(() => hub.reports.length === 2, "the report again, which the backup does not hold");
  expect(hub.reports[1]).toMatchObject({ version: "doors@1", state: "applied" });
});
