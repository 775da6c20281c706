/** The command: what it says before it runs, and how it ends. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CONFIG, MODEL } from "../support/echo.ts";
import { temporaryFolder } from "../support/folder.ts";
import { freePort } from "../support/nats.ts";
import { startProcess, until, writeSettings } from "../support/process.ts";

function settingsIn(folder: string, more: object = {}): string {
  mkdirSync(join(folder, "photos"), { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(CONFIG));
  return writeSettings(folder, {
    device: "/devices/7",
    state: "state",
    network: { model: MODEL, config: "config.json" },
    sources: [{ kind: "folder", path: "photos" }],
    sinks: [{ kind: "ndjson", path: "out.ndjson" }],
    ...more,
  });
}

it("--check opens model and config, and says what the agent would do", async () => {
  const { code, text } = await startProcess([settingsIn(temporaryFolder()), "--check"]).ended;
  expect(text).toContain("the device decodes");
  expect(text).toContain("output0");
  expect(code).toBe(0);
});

it("--check ends with 2 if the config does not fit what the network gives, whoever decodes", async () => {
  const folder = temporaryFolder();
  const path = settingsIn(folder);
  for (const output_format of ["raw", "detection"]) {
    const nn_config = { output_format, NN_family: "mobilenet", input_size: "32x24" };
    writeFileSync(join(folder, "config.json"), JSON.stringify({ nn_config, mappings: { labels: ["a", "b"] } }));
    const { code, text } = await startProcess([path, "--check"]).ended;
    expect(text).toContain("got output0 [1,384,6], expected for ssd");
    expect(code).toBe(2);
  }
});

it("ends with 2 and every problem if the settings are wrong", async () => {
  const path = settingsIn(temporaryFolder(), { device: 7, sinks: [{ kind: "fax" }], spool: { policy: "none" } });
  const { code, text } = await startProcess([path]).ended;
  for (const where of ["device:", "sinks[0].kind:", "spool.policy:"]) expect(text).toContain(where);
  expect(code).toBe(2);
});

it("ends with 2 if the model is none, and gives the folder of state back", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "model.onnx"), "nonsense");
  const broken = await startProcess([settingsIn(folder, { network: { model: "model.onnx" } })]).ended;
  expect(broken.code).toBe(2);
  const fine = await startProcess([settingsIn(folder)]).ended;
  expect(fine.text).toContain("0 frames sent");
  expect(fine.code).toBe(0);
});

it("without arguments tells its usage", async () => {
  const { code, text } = await startProcess([]).ended;
  expect(text).toContain("--photos FOLDER --model NETWORK.onnx");
  expect(code).toBe(2);
});

it("runs on while a camera is away, says so without its password, and ends by SIGTERM", async () => {
  const folder = temporaryFolder();
  const url = `rtsp://user:secret@127.0.0.1:${await freePort()}/1`;
  const sources = [{ kind: "rtsp", camera: "door", url }];
  const agent = startProcess([settingsIn(folder, { sources, health: { port: 0 } })]);
  let text = "";
  agent.child.stderr!.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await until(() => text.includes("camera lost"), "the loss");
  const port = Number(/"port":(\d+)/.exec(text)![1]);
  const get = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, init);
  const health = await get("/healthz");
  expect(health.status).toBe(503);
  expect(((await health.json()) as { problems: string[] }).problems[0]).toMatch(/camera door: .*Connection refused/);
  await until(
    async () => (await (await get("/metrics")).text()).includes('restarts_total{camera="door"} 1'),
    "a restart",
  );
  expect((await get("/healthz", { method: "POST" })).status).toBe(405);
  expect((await get("/../../etc/passwd")).status).toBe(404);
  agent.kill("SIGTERM");
  expect((await agent.ended).code).toBe(0);
  expect(text).not.toContain("secret");
});
