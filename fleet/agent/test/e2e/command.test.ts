/** The command: what it says before it runs, and how it ends. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONFIG, MODEL } from "../support/echo.ts";
import { temporaryFolder, writePhotos } from "../support/folder.ts";
import { Child } from "boxwright-service/testing/child";
import { freePort } from "boxwright-service/testing/free-port";
import { MAIN, startProcess, writeSettings } from "../support/process.ts";
import { hasFfmpeg } from "../support/tools.ts";
import { until } from "boxwright-service/testing/wait";

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

it("leaves nothing but its own files in the folder of state, in which a service runs", async () => {
  const folder = temporaryFolder();
  const settings = settingsIn(folder);
  await writePhotos(join(folder, "photos"), 1);
  const places = Object.fromEntries(["state", "home", "temporary"].map((name) => [name, join(folder, name)]));
  for (const place of Object.values(places)) mkdirSync(place);
  // Without CI and ORT_DISABLE_TELEMETRY: either of them turns the telemetry of onnxruntime-node off.
  const env = { PATH: process.env["PATH"], HOME: places["home"], TMPDIR: places["temporary"] };
  const agent = new Child([process.execPath, MAIN, settings], { cwd: places["state"]!, env });
  const { code, text } = await agent.ended;
  expect(text).toContain("1 frames sent");
  expect(code).toBe(0);
  expect([readdirSync(places["home"]!), readdirSync(places["temporary"]!)]).toEqual([[], []]);
  expect(readdirSync(places["state"]!).sort()).toEqual([
    ...[
      "boots",
      "config.good.json",
      "config.starts.json",
      "configs",
      "device",
      "journals",
      "last-log",
      "refused",
      "spool",
    ],
  ]);
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

it.skipIf(!hasFfmpeg)("ends with 2 and what this machine has if it lacks the hardware of the settings", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.mkv"), "");
  const network = { model: MODEL, config: "config.json", providers: ["npu", "cpu"] };
  const sources = [{ kind: "video", path: "a.mkv", hwaccel: "magic" }];
  const { code, text } = await startProcess([settingsIn(folder, { network, sources })]).ended;
  expect(text).toMatch(/^network\.providers: got npu, expected some that this runtime has: cpu\b/m);
  expect(text).toMatch(/^sources\[0\]\.hwaccel: got magic, expected one that this ffmpeg has: auto\b/m);
  expect(code).toBe(2);
  const known = { network: { ...network, providers: ["cpu"] }, sources: [{ ...sources[0], hwaccel: "auto" }] };
  expect((await startProcess([settingsIn(folder, known), "--check"]).ended).code).toBe(0);
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

describe("the short command", () => {
  /** Runs the agent on photos with these options, in a folder with one photo and an empty folder. */
  async function run(more: readonly string[], photos = "photos"): Promise<{ code: number | null; text: string }> {
    const folder = temporaryFolder();
    for (const name of ["photos", "empty"]) mkdirSync(join(folder, name));
    await writePhotos(join(folder, "photos"), 1);
    const rest = more.map((text) => text.replace("@", `${folder}/`));
    const to = more.includes("--to") ? [] : ["--to", join(folder, "out.ndjson")];
    return startProcess(["--photos", join(folder, photos), "--state", join(folder, "state"), ...to, ...rest]).ended;
  }

  it.each([
    [["--model", MODEL, "--config", "@none.json"], "--config: got "],
    [[], "--model: is missing, expected an ONNX file"],
    [["--model", "@none.onnx"], "none.onnx, which is no file"],
    [["--model", "@photos/00000.png"], "00000.png cannot be opened, expected an ONNX file"],
    [
      ["--model", MODEL, "--to", "localhost:8790"],
      '--to: got "localhost:8790", expected a file, or a host that begins',
    ],
    [["--model", MODEL, "--to", "nats://localhost"], "expected a file, or a host that begins with http://"],
    [["--model", MODEL, "--to", "@none/out.ndjson"], "expected a file in a folder that exists"],
    [["--model", MODEL, "--to", "http://localhost:1", "--token-file", "@none"], "--token-file: cannot be read"],
    [["--model", MODEL, "--labels", "cocoo"], "one of coco80"],
    [["--model", MODEL, "--config", "@photos/00000.png"], "00000.png: got text that is not JSON"],
    [["--model", MODEL, "--state", "@photos/00000.png"], "state: got "],
    [["--hub", "localhost:8787", "--key", "bwa_x"], '--hub: got "localhost:8787", expected an address like https://'],
    [["--hub", "http://localhost:1", "--key", "hello"], "--key: got a text of 5 characters, expected an adopt key"],
    [["--model", MODEL, "--wach"], "--wach: is not known. Did you mean --watch?"],
  ])("with %j ends with 2 and says which option is wrong", async (more, message) => {
    const { code, text } = await run(more);
    expect(text).toContain(message);
    expect(text.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(2);
  });

  it("misspelt, as a command or as a kind, is told with what was meant", async () => {
    const command = await startProcess(["enroll"]).ended;
    expect(command.text).toContain('Did you mean the command "enrol"?');
    const sources = [{ kind: "rtps", camera: "door", url: "rtsp://10.0.0.7/x", fps: 10 }];
    const { code, text } = await startProcess([settingsIn(temporaryFolder(), { sources })]).ended;
    expect(text.trim()).toBe('sources[0].kind: got "rtps". Did you mean "rtsp"?');
    expect(code).toBe(2);
  });

  it("on a folder that is missing, or without photos, says so", async () => {
    const missing = await run(["--model", MODEL], "nowhere");
    expect(missing.text).toMatch(/--photos: got .*nowhere, expected a folder that exists/);
    expect(missing.code).toBe(2);
    expect((await run(["--model", MODEL], "empty")).text).toMatch(/no photo in .*empty: expected JPEG, PNG or WebP/);
  });

  it("with an empty photo says so, and ends with 1", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "photos"));
    await writePhotos(join(folder, "photos"), 2);
    writeFileSync(join(folder, "photos", "00003.jpg"), "");
    const args = ["--photos", join(folder, "photos"), "--state", join(folder, "state")];
    const more = ["--model", MODEL, "--to", join(folder, "out.ndjson")];
    const { code, text } = await startProcess([...args, ...more]).ended;
    expect(text).toMatch(/00003.jpg.*photo left out: got an empty file, expected JPEG, PNG or WebP/);
    expect(text).toContain("2 frames sent, 1 failed, 0 lost");
    expect(code).toBe(1);
  });
});

it("ends with 2 if the port of its health is taken, and says so", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { code, text } = await startProcess([settingsIn(temporaryFolder(), { health: { port } })]).ended;
  expect(text).toContain(`health: cannot listen on 127.0.0.1, port ${port}`);
  expect(code).toBe(2);
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
  await agent.says(/camera lost/);
  const port = Number((await agent.says(/"port":(\d+)/))[1]);
  const get = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, init);
  const health = await get("/healthz");
  expect(health.status).toBe(503);
  expect(((await health.json()) as { problems: string[] }).problems[0]).toMatch(/camera door: .*Connection refused/);
  await until(
    async () => /restarts_total\{camera="door"\} [1-9]/.test(await (await get("/metrics")).text()),
    "a restart",
  );
  expect((await get("/healthz", { method: "POST" })).status).toBe(405);
  expect((await get("/../../etc/passwd")).status).toBe(404);
  agent.kill("SIGTERM");
  const { code, text } = await agent.ended;
  expect(code).toBe(0);
  expect(text).not.toContain("secret");
});
