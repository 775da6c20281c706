/**
 * Hub, agents and host close the loop: two devices enrol, run the application that a group is given, send detections
 * under their own tokens and a snap; one is revoked, one dies. All are the built commands, and a person uses Chromium.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type Page, chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFailed, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { chromiumFlags } from "boxwright-service/testing/chromium";
import { newDatabase } from "boxwright-service/testing/postgres";
import { sleep, until } from "boxwright-service/testing/wait";
import { HubProcess, run } from "../../../hub/test/support/process.ts";
import { kinds, temporaryFolder } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";
import { AGENT } from "./agent.ts";
import { LABELS, configOf, onnx } from "./network.ts";
import { type Photo, writePhotos } from "./photos.ts";

const isComplete = Boolean(inject("chromium") && inject("agent") && inject("hub"));
const PASSWORD = "correct horse battery";
/** Seconds between heartbeats: the test waits for what follows from missed ones. */
const HEARTBEAT = 1;
const MODEL = onnx();
const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A model with an operator that no runtime knows: the hub can read its tensors, and a device cannot run it. */
function withUnknownOperator(): Uint8Array {
  const bytes = Buffer.from(MODEL);
  bytes.write("Grouper", bytes.indexOf("Greater"));
  return bytes;
}

interface Device {
  readonly name: string;
  readonly process: Child;
  readonly photos: string;
  id: string;
}

describe.each(kinds)("a fleet on $kind", ({ kind, skip }) => {
  const isSkipped = skip || !isComplete;
  const folder = temporaryFolder();
  const database = async (name: string): Promise<string> =>
    kind === "postgres" ? newDatabase(inject("postgres")!) : join(folder.path, `${name}.db`);
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    if (isSkipped) return;
    browser = await chromium.launch({ executablePath: inject("chromium")!, args: chromiumFlags });
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
  });
  afterEach(() => Child.killAll());
  afterAll(async () => {
    await browser?.close();
    folder.remove();
  });

  async function startHub(): Promise<{ hub: HubProcess; link: string; team: string }> {
    const place = await database("hub");
    const env = {
      ...(kind === "postgres" ? { DATABASE_URL: place } : { HUB_DATABASE_FILE: place }),
      ...{ HUB_FILES: join(folder.path, "files"), HUB_HEARTBEAT_SECONDS: String(HEARTBEAT) },
    };
    const made = await run(["init", "--email", "you@example.org", "--team", "Team"], env);
    expect(made.code, made.stderr).toBe(0);
    const { link, team } = made.json as { link: string; team: { id: string } };
    return { hub: await HubProcess.start(env), link: new URL(link).pathname, team: team.id };
  }

  /** Starts an agent that enrols with the key, and watches a folder of its own. */
  function startAgent(name: string, hub: string, host: string, adoptKey: string): Device {
    const own = join(folder.path, name);
    const photos = join(own, "photos");
    mkdirSync(photos, { recursive: true });
    const settings = {
      ...{ state: "state", log: "info", network: { threads: 1 } },
      hub: { url: hub, adoptKey, name },
      sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
      sinks: [{ kind: "http", url: host }],
      preview: { every: 0.5 },
      health: { port: 0 },
    };
    writeFileSync(join(own, "settings.json"), JSON.stringify(settings));
    const process_ = new Child([process.execPath, AGENT, join(own, "settings.json")]);
    onTestFailed(() => console.error(`${name} wrote:\n${process_.output}`));
    return { name, photos, process: process_, id: "" };
  }

  test.skipIf(isSkipped)("from an adopt key to a device that is revoked, and one that dies", async () => {
    const { hub, link, team } = await startHub();
    const host = await HostProcess.start({ database: await database("host"), hub: hub.url, "hub-seconds": 0.5 });
    const teamPage = `${hub.url}/teams/${team}`;

    // A person signs in, makes an adopt key for two devices, and a key for the team's backend.
    await page.goto(hub.url + link);
    await page.getByLabel("Password").first().fill(PASSWORD);
    await page.locator("form button[type=submit]").first().click();
    await page.waitForURL(`${hub.url}/teams/**`);
    await page.goto(`${teamPage}/adopt-keys`);
    await page.getByLabel("What it is for").fill("wall");
    await page.getByLabel("Devices at most").fill("2");
    await page.locator("form:has(#devices) button[type=submit]").click();
    const adoptKey = /bwa_\w+/.exec(await page.locator("#adopt-key").innerText())![0];
    await page.goto(`${teamPage}/settings`);
    await page.getByRole("button", { name: "Create API key" }).click();
    await page.waitForSelector("text=/hub_[0-9A-Za-z]{12}_/");
    const key = /hub_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}/.exec(await page.content())![0];

    const ask = async (text: string, variables: object = {}): Promise<any> => {
      const response = await fetch(`${hub.url}/graphql`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ query: text, variables }),
      });
      const { data, errors } = (await response.json()) as { data: { team: any }; errors?: unknown };
      expect(errors, text).toBeUndefined();
      return data.team;
    };
    const change = async (field: string, text: string, variables: object = {}): Promise<any> => {
      const result = (await ask(text, variables))[field];
      expect(result, field).toMatchObject({ status: "SUCCESS" });
      return result;
    };
    const sendModel = async (bytes: Uint8Array): Promise<string> => {
      const answer = await fetch(`${hub.url}/models/${hashOf(bytes)}?name=colours.onnx`, {
        method: "PUT",
        headers: { authorization: `Bearer ${key}`, "upload-offset": "0", "upload-length": String(bytes.length) },
        body: bytes as Uint8Array<ArrayBuffer>,
      });
      expect(answer.status, await answer.text()).toBe(201);
      return hashOf(bytes);
    };

    // Both enrol, and are online.
    const devices = ["front", "back"].map((name) => startAgent(name, hub.url, host.url, adoptKey));
    const listed = async (): Promise<{ id: string; name: string; status: string }[]> =>
      (await ask("{ team { devices { nodes { id name status } } } }")).devices.nodes;
    await until(
      async () => (await listed()).filter(({ status }) => status === "ONLINE").length === 2,
      "two devices online",
    );
    for (const { id, name } of await listed()) devices.find((device) => device.name === name)!.id = id;
    const [front, back] = devices as [Device, Device];

    // The team's backend makes an application and gives it to a group.
    const model = await sendModel(MODEL);
    const created = await change(
      "createApp",
      'mutation { team { createApp(name: "Colours", identifier: "colours") { status failedMessage app { id } } } }',
    );
    const appId: string = created.app.id;
    const save = (config: object, modelSha256: string): Promise<any> =>
      change(
        "saveAppVersion",
        `mutation ($appId: ID!, $config: JSON, $snaps: JSON, $modelSha256: String) { team {
           saveAppVersion(appId: $appId, config: $config, snaps: $snaps, modelSha256: $modelSha256) {
             status failedMessage version { number } } } }`,
        { appId, config, modelSha256, snaps: [{ name: "blue", class: "blue", min_confidence: 0.5, per_hour: 1 }] },
      );
    await save(configOf("detection"), model);
    const { deviceGroup } = await change(
      "createDeviceGroup",
      'mutation { team { createDeviceGroup(name: "Walls") { status failedMessage deviceGroup { id } } } }',
    );
    for (const { id } of devices)
      await change(
        "deviceGroupAddDevice",
        "mutation ($group: ID!, $device: ID!) { team { deviceGroupAddDevice(deviceGroupId: $group, deviceId: $device) { status failedMessage } } }",
        { group: deviceGroup.id, device: id },
      );
    const give = (version: number): Promise<any> =>
      change(
        "assignApp",
        "mutation ($appId: ID!, $group: ID!, $version: Int!) { team { assignApp(appId: $appId, groupId: $group, version: $version) { status failedMessage } } }",
        { appId, group: deviceGroup.id, version },
      );
    const counts = async (number: number): Promise<{ appliedCount: number; failedCount: number }> =>
      (
        await ask(
          "query ($appId: ID!, $number: Int!) { team { app(appId: $appId) { version(number: $number) { appliedCount failedCount } } } }",
          { appId, number },
        )
      ).app.version;
    await give(1);
    await until(async () => (await counts(1)).appliedCount === 2, "both devices to report the application");

    // Detections reach the host under the device's own token, where the photo has its thing.
    let photo: Photo;
    for (const { photos } of devices) [photo] = writePhotos(photos, 1) as [Photo];
    const [thing] = photo!.things as [Photo["things"][number]];
    const linesOf = async ({ id }: Device): Promise<any[]> =>
      (await (await fetch(`${host.url}/v1/detections?source=device:${id}`)).text())
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    for (const device of devices) {
      await until(async () => (await linesOf(device)).length === 1, `a frame of ${device.name}`);
      const [{ detections }] = (await linesOf(device)) as [{ detections: Record<string, number | string>[] }];
      expect(detections).toHaveLength(1);
      expect(detections[0]!["label"]).toBe(LABELS[thing.channel]);
      expect(Math.abs(Number(detections[0]!["x_min"]) * photo!.width - thing.left)).toBeLessThanOrEqual(3);
    }

    // Its snap is seen in the hub, with its box at the right pixels.
    const snaps = async (): Promise<{ id: string; sourceDeviceId: string }[]> =>
      (await ask('{ team { snaps(filter: { names: ["blue"] }) { nodes { id sourceDeviceId } } } }')).snaps.nodes;
    await until(async () => (await snaps()).length === 2, "a snap of each device");
    await page.goto(
      `${teamPage}/snaps/${(await snaps()).find(({ sourceDeviceId }) => sourceDeviceId === front.id)!.id}`,
    );
    await page.waitForSelector('canvas[data-drawn="yes"]');
    const edges = await drawnEdges(page);
    for (const side of ["left", "right", "bottom"] as const)
      expect(Math.abs(edges[side] - thing[side]), `${side} ${JSON.stringify(edges)}`).toBeLessThanOrEqual(5);

    // The page of the device shows the host's page of it, with the same frame.
    await page.goto(`${teamPage}/devices/${front.id}`);
    await page.locator("iframe").scrollIntoViewIfNeeded();
    await page.frameLocator("iframe").locator('[data-boxes="1"]').waitFor();

    // A version that no device can run is refused by both, and shown; the good one runs on.
    await save(configOf("detection"), await sendModel(withUnknownOperator()));
    await give(2);
    await until(async () => (await counts(2)).failedCount === 2, "both devices to report the failure");
    await page.reload();
    await page
      .getByText(/cannot be opened/)
      .first()
      .waitFor();
    cpSync(join(front.photos, photo!.name), join(front.photos, "again.png"));
    await until(async () => (await linesOf(front)).length === 2, "a frame after the refused version");

    // One device is killed, and the page says that it is offline.
    await back.process.end("SIGKILL");
    const offline = until(
      async () => (await listed()).find(({ id }) => id === back.id)!.status === "OFFLINE",
      "the killed device to be offline",
    );

    // The other one is revoked on its page: hub and host refuse it.
    await page.goto(`${teamPage}/devices/${front.id}?revoke`);
    await page.locator('form[action$="/revoke"] button').click();
    await page
      .getByText(/is revoked/)
      .first()
      .waitFor();
    await front.process.says(/the hub refuses the credential of this device/);
    // The host reads revocations twice a second, so it may take a photo that comes at once.
    let late = 0;
    const sendLate = (): void => cpSync(join(front.photos, photo!.name), join(front.photos, `late${late++}.png`));
    await until(async () => {
      sendLate();
      await sleep(300);
      return /packets wait: 401 .*the hub has revoked device/.test(front.process.output);
    }, "the host to refuse the revoked device");
    const stored = (await linesOf(front)).length;
    sendLate();
    await sleep(1000);
    expect(await linesOf(front)).toHaveLength(stored);

    await offline;
    await page.goto(`${teamPage}/devices/${back.id}`);
    await page.locator(".status.offline").waitFor();
    for (const process_ of [front.process, host, hub]) await process_.end("SIGTERM");
  });
});

/** Finds the edges of the box on the canvas over a snap. The tag is at the top left corner: look below it. */
const drawnEdges = (page: Page): Promise<Record<"left" | "right" | "bottom", number>> =>
  page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('canvas[data-drawn="yes"]')!;
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, width, height);
    const isDrawn = (x: number, y: number): boolean => data[(y * width + x) * 4 + 3]! > 128;
    const columns = Array.from({ length: width }, (_, x) => x);
    const rows = Array.from({ length: height }, (_, y) => y).slice(height / 2);
    const xs = columns.filter((x) => rows.some((y) => isDrawn(x, y)));
    const ys = rows.filter((y) => columns.some((x) => isDrawn(x, y)));
    return { left: xs[0]!, right: xs.at(-1)!, bottom: ys.at(-1)! };
  });
