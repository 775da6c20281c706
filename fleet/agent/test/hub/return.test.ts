/** A device whose hub was restored from a backup. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { Agent } from "../../src/agent.ts";
import { readSettings } from "../../src/settings/read.ts";
import { temporaryFolder } from "../support/folder.ts";
import { ADOPT_KEY, FakeHub } from "../support/hub.ts";
import { mkdirSync } from "node:fs";

it("comes back by its own key when the hub takes devices back, and keeps its id", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "photos"));
  const hub = await new FakeHub().start();
  onTestFinished(() => hub.stop());
  hub.interval = 1;
  const settings = {
    state: "state",
    hub: { url: hub.url, adoptKey: ADOPT_KEY, name: "Front door" },
    sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
    sinks: [{ kind: "ndjson", path: "out.ndjson" }],
  };
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const start = async (): Promise<Agent> => {
    const agent = await Agent.start(readSettings(settings, folder), log);
    onTestFinished(() => agent.close().catch(() => undefined));
    void agent.run();
    return agent;
  };
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
