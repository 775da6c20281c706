/**
 * A roll-out that looks at what the network finds: hub and agent are the built commands. A version that finds the same
 * is given to all by the hub itself, and one with other classes is stopped before any device runs it.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, inject, onTestFailed, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { until } from "boxwright-service/testing/wait";
import { HubProcess, makeKey, run, useLinkAt } from "../../../hub/test/support/process.ts";
import { temporaryFolder } from "../support/host.ts";
import { AGENT } from "./agent.ts";
import { LABELS, configOf, onnx } from "./network.ts";
import { writePhotos } from "./photos.ts";

const MODEL = onnx();
const HASH = createHash("sha256").update(MODEL).digest("hex");
const SHADOW =
  "rolloutShadow { isRunning result { devices reported failed frames agreement changed } devices { state } }";

/** Returns the config with other labels, or with another IoU of its suppression. */
function changed({ labels = LABELS, iou_threshold = 0.5 }): object {
  const { nn_config } = configOf("detection") as { nn_config: { NN_specific_metadata: object } };
  const NN_specific_metadata = { ...nn_config.NN_specific_metadata, iou_threshold };
  return { nn_config: { ...nn_config, NN_specific_metadata }, mappings: { labels } };
}

afterEach(() => Child.killAll());

test.skipIf(!(inject("agent") && inject("hub")))("a roll-out that compares first", async () => {
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  const env = { HUB_DATABASE_FILE: at("hub.db"), HUB_FILES: at("files"), HUB_HEARTBEAT_SECONDS: "1" };
  const command = async (...args: string[]): Promise<any> => {
    const ran = await run(args, env);
    expect(ran.code, ran.stderr).toBe(0);
    return ran.json;
  };
  const { team, link } = await command("init", "--email", "you@example.org", "--team", "Team");
  const hub = await HubProcess.start(env);
  const key = await makeKey(await useLinkAt(hub.url, link), team.id);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const ask = async (query: string, variables: object = {}): Promise<any> => {
    const body = JSON.stringify({ query, variables });
    const { data, errors } = await (await fetch(`${hub.url}/graphql`, { method: "POST", headers, body })).json();
    expect(errors, query).toBeUndefined();
    return data.team;
  };
  const change = async (field: string, args: string, result = "", variables: object = {}, types = ""): Promise<any> => {
    const given = types === "" ? "" : `(${types})`;
    const query = `mutation ${given} { team { ${field}(${args}) { status failedMessage ${result} } } }`;
    const answer = (await ask(query, variables))[field];
    expect(answer, field).toMatchObject({ status: "SUCCESS" });
    return answer;
  };

  const sent = await fetch(`${hub.url}/models/${HASH}?name=colours.onnx`, {
    method: "PUT",
    headers: { ...headers, "upload-offset": "0", "upload-length": String(MODEL.length) },
    body: MODEL,
  });
  expect(sent.status).toBe(201);
  const { app } = await change("createApp", 'name: "Colours"', "app { id }");
  const save = (config: object): Promise<any> =>
    change(
      ...["saveAppVersion", `appId: "${app.id}", config: $config, modelSha256: "${HASH}"`, ""],
      ...[{ config }, "$config: JSON"],
    );
  for (const part of [{}, { iou_threshold: 0.51 }, { labels: ["one", "two", "three"] }]) await save(changed(part));
  const { deviceGroup } = await change("createDeviceGroup", 'name: "Walls"', "deviceGroup { id }");
  const { key: adoptKey } = await command("adopt-keys", "create", "--team", team.id, "--name", "wall");

  for (const name of ["photos", "original"]) mkdirSync(at(name));
  const [photo] = writePhotos(at("original"), 1);
  const settings = {
    ...{ state: "state", log: "warn", network: { threads: 1 } },
    hub: { url: hub.url, adoptKey, name: "front" },
    sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
    sinks: [{ kind: "ndjson", path: "out.ndjson" }],
  };
  writeFileSync(at("settings.json"), JSON.stringify(settings));
  const agent = new Child([process.execPath, AGENT, at("settings.json")]);
  onTestFailed(() => console.error(`the agent wrote:\n${agent.output}`));
  let device = "";
  await until(
    async () => (device = (await ask("{ team { devices { nodes { id } } } }")).devices.nodes[0]?.id),
    "a device",
  );
  await change("deviceGroupAddDevice", `deviceGroupId: "${deviceGroup.id}", deviceId: "${device}"`);
  const give = (version: number, rest: string): Promise<any> =>
    change("assignApp", `appId: "${app.id}", groupId: "${deviceGroup.id}", version: ${version} ${rest}`);
  const state = async (): Promise<any> =>
    (await ask(`{ team { app(appId: "${app.id}") { assignments { version rolloutShare rolloutState ${SHADOW} } } } }`))
      .app.assignments[0];
  const applied = async (number: number): Promise<boolean> =>
    (await ask(`{ team { app(appId: "${app.id}") { version(number: ${number}) { appliedCount } } } }`)).app.version
      .appliedCount === 1;

  await give(1, "");
  await until(() => applied(1), "the first version to run");
  const shadow = "steps: [100], waitMinutes: 0, shadow: { every: 1, minFrames: 6, maxSlowdownPercent: 1000 }";
  await give(2, shadow);
  expect(await state()).toMatchObject({ rolloutShare: 0, rolloutShadow: { isRunning: true, result: { devices: 1 } } });
  let photos = 0;
  /** Adds photos until something holds. */
  const addUntil = (holds: () => Promise<boolean>, what: string): Promise<void> =>
    until(async () => {
      cpSync(join(at("original"), photo!.name), join(at("photos"), `${photos++}.png`));
      return holds();
    }, what);
  await addUntil(() => applied(2), "the version that finds the same to run");
  await until(async () => (await state()).version === 2, "the roll-out to end");

  await give(3, shadow);
  await addUntil(async () => (await state()).rolloutState === "STOPPED", "the version with other classes to stop");
  const stopped = await state();
  expect(stopped).toMatchObject({
    ...{ version: 2, rolloutShare: 0 },
    rolloutShadow: {
      isRunning: false,
      result: { agreement: 0, changed: 1, failed: 0 },
      devices: [{ state: "COMPARING" }],
    },
  });
  expect(await applied(3)).toBe(false);
  // All frames went out as the version in use found them.
  const lines = readFileSync(at("out.ndjson"), "utf8").trim().split("\n");
  expect(lines.every((line) => JSON.parse(line).data.detections.length > 0)).toBe(true);
  await agent.end("SIGTERM");
  await hub.end("SIGTERM");
});
