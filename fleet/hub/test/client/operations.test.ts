/** The client's methods for applications and snaps, and the example of docs/clients.md. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHubClient, HubMutationError, type HubClient, type Snap } from "../../client/index.ts";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { Agent } from "../support/agent.ts";
import { startHub, type TestHub } from "../support/hub.ts";
import { png } from "../support/pictures.ts";
import { BOX, sendSnap } from "../support/snaps.ts";

const CONFIG = { family: "yolov8", classes: 2, inputSize: [320, 320] };

describe("the client's methods", () => {
  let hub: TestHub;
  let client: HubClient;
  let requests = 0;
  beforeAll(async () => {
    hub = await startHub({ devices: ["north"] });
    const counting: typeof fetch = (...args) => (requests++, fetch(...args));
    client = createHubClient({ baseUrl: hub.url, apiKey: hub.key, fetch: counting });
  });
  afterAll(() => hub.stop());

  it("save, give and take applications", async () => {
    const app = await client.createApp({ name: "Gate", tags: ["door"] });
    expect(app).toMatchObject({ identifier: "gate", tags: ["door"], newestVersion: null, assignments: [] });
    const first = await client.saveAppVersion(app.id, { config: CONFIG, ifNewest: 0 });
    expect(first).toMatchObject({ isNew: true, version: { number: 1, config: CONFIG, model: null, snaps: [] } });
    expect((await client.saveAppVersion(app.id, { config: CONFIG })).isNew).toBe(false);
    await expect(client.saveAppVersion(app.id, { config: { family: "yolov99" } })).rejects.toThrow(HubMutationError);
    const snaps = [{ name: "person", class: "0", min_confidence: 0.8, per_hour: 10 }];
    await client.saveAppVersion(app.id, { config: { ...CONFIG, classes: 3 }, snaps });
    const group = await client.createDeviceGroup("gates");
    const target = { groupId: group.id };
    expect(await client.assignApp("gate", 1, target)).toMatchObject({ version: 1, rolloutVersion: null, revision: 1 });
    const rollout = await client.assignApp("gate", 2, target, { share: 10, ifRevision: 1 });
    expect(rollout).toMatchObject({ version: 1, rolloutVersion: 2, rolloutShare: 10, rolloutState: "RUNNING" });
    await expect(client.assignApp("gate", 1, target, { ifRevision: 1 })).rejects.toThrow("changed meanwhile");
    await client.endAppRollout(group.id, 2);
    const wrong = client.assignApp("gate", 2, target, { steps: [50, 10] });
    await expect(wrong).rejects.toThrow("steps: got [50,10], expected 1 to 20 ascending");
    expect((await client.app("gate"))?.assignments).toMatchObject([{ groupId: group.id, version: 1, revision: 3 }]);
    const [device] = await client.devices();
    await client.setDeviceTags(device!.id, ["north"]);
    const tag = { deviceTag: "north" };
    expect(await client.assignApp("gate", 1, tag, { share: 10 })).toMatchObject({ ...tag, groupId: null });
    await client.endAppRollout(tag);
    await client.assignApp("gate", 1, tag);
    await client.unassignApp(tag);
    await client.assignApp(app.id, 2, { deviceId: device!.id });
    await client.unassignApp({ deviceId: device!.id });
    await client.unassignApp(target);
    expect((await client.updateApp("gate", { name: "Gates" })).name).toBe("Gates");
    expect((await client.deleteApp("gate")).id).toBe(app.id);
    expect(await client.app("gate")).toBeNull();
    expect(await client.appVersions("gate")).toEqual([]);
  });

  it("give a version in steps, which the hub opens by itself", async () => {
    const app = await client.createApp({ name: "Steps" });
    await client.saveAppVersion(app.id, { config: CONFIG });
    const group = await client.createDeviceGroup("in steps");
    const steps = { steps: [10, 100], waitMinutes: 0, successPercent: 80 };
    expect(await client.assignApp(app.id, 1, { groupId: group.id }, steps)).toMatchObject({
      ...{ rolloutShare: 10, rolloutSteps: [10, 100], rolloutSuccessPercent: 80, rolloutErrorPercent: 5 },
      ...{ rolloutWaitMinutes: 0, rolloutStepOpenedAt: expect.any(String), rolloutFailureLimit: 5 },
    });
    // The group is empty, so nothing holds up its steps.
    const given = async () => (await client.app(app.id))!.assignments[0]!;
    await expect.poll(given, { interval: 500 }).toMatchObject({ version: 1, rolloutSteps: null });
    await client.unassignApp({ groupId: group.id });
    await client.deleteApp(app.id);
  });

  it("read all versions and all applications, in pages", async () => {
    const names = Array.from({ length: 105 }, (_, i) => `a${String(i).padStart(3, "0")}`);
    // Past the checks of an endpoint, which take their time.
    const { db } = hub.storage;
    for (const [i, name] of names.entries())
      await createApp(db, { now: Date.now() + i, actor: "test", teamId: hub.team.id }, { name });
    for (let i = 0; i < 21; i++) {
      const content = { config: { ...CONFIG, confidenceThreshold: i / 100 }, options: {}, model: null, snaps: [] };
      await saveVersion(db, { now: Date.now(), actor: "test", teamId: hub.team.id }, "a000", {
        content,
        description: "",
      });
    }
    requests = 0;
    expect((await client.apps()).map(({ name }) => name)).toEqual(names);
    expect(requests).toBe(2);
    expect((await client.appVersions("a000")).map(({ number }) => number)).toEqual(
      Array.from({ length: 21 }, (_, i) => 21 - i),
    );
    expect(requests).toBe(4);
  });

  it("find, count and delete snaps, and read no page before it is needed", async () => {
    const agent = await Agent.enrol(hub);
    await agent.beat();
    await hub.running.app.heartbeats.flush(hub.storage.db);
    const picture = png(4, 4, [9, 9, 9]);
    const start = Date.now();
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const tags = i === 0 ? ["day"] : ["night"];
      ids.push(await sendSnap(agent, [picture], { tags, created_at: new Date(start - (3 - i) * 1000).toISOString() }));
    }
    requests = 0;
    const list = client.snaps({ tags: ["night"] });
    expect(requests).toBe(0);
    const found: Snap[] = [];
    for await (const snap of list) found.push(snap);
    expect([found.map(({ id }) => id), requests]).toEqual([[ids[2], ids[1]], 1]);
    const file = found[0]!.files[0]!;
    expect(file).toMatchObject({ classification: "frame", contentType: "image/png", size: picture.length });
    expect(await client.eventFile(file.id)).toEqual(file);
    const { event } = (await client.snap(ids[0]!))!;
    expect(event).toMatchObject({ data: { detections: [BOX] } });
    expect(await client.snap("nothing")).toBeNull();
    expect(await client.snapsTags()).toEqual(["day", "night"]);
    expect(await client.snapsExtrasKeys()).toEqual(["gate"]);
    expect(await client.snapsExtrasKeyValues("gate")).toEqual(["3"]);
    await client.requestSnap(agent.id);
    expect((await agent.beat()).json.snap_requested).toBe(true);
    expect(await client.deleteSnapsByIds([ids[0]!])).toBe(1);
    await expect(client.deleteSnapsByFilter({})).rejects.toThrow(HubMutationError);
    expect(await client.deleteSnapsByFilter({ tags: ["night"] })).toBe(2);
  });

  it("do what docs/clients.md shows", async () => {
    const text = readFileSync(new URL("../../docs/clients.md", import.meta.url), "utf8");
    const [, code] = /```js\n(.*?)```/s.exec(text)!;
    const { key } = await hub.makeTeam("Docs", ["first"]);
    const lines: unknown[][] = [];
    const run = Object.getPrototypeOf(async () => undefined).constructor as FunctionConstructor;
    const env = { HUB_URL: hub.url, HUB_API_KEY: key };
    const names = ["createHubClient", "process", "console", "config"];
    await (run(...names, code!)(
      createHubClient,
      { env },
      { log: (...line: unknown[]) => lines.push(line) },
      CONFIG,
    ) as Promise<void>);
    expect(lines).toEqual([[expect.any(String), "first"]]);
    const [app] = await createHubClient({ baseUrl: hub.url, apiKey: key }).apps();
    expect(app).toMatchObject({ identifier: "people", assignments: [{ rolloutVersion: 1, rolloutShare: 10 }] });
  });
});
