import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SettingsError } from "../../src/core/errors.ts";
import { readCommand } from "../../src/cli/arguments.ts";
import { pathIn } from "../../src/settings/parts.ts";
import { readSettings, readSettingsFile } from "../../src/settings/read.ts";
import { settings } from "../../src/settings/schema.ts";
import { sinkKinds } from "../../src/settings/sinks.ts";
import { sourceKinds } from "../../src/settings/sources.ts";
import { MODEL } from "../support/echo.ts";
import { temporaryFolder } from "../support/folder.ts";

function problemsOf(read: () => unknown): Record<string, string> {
  try {
    read();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return Object.fromEntries(error.problems.map(({ path, message }) => [path, message]));
  }
  return {};
}

/** Returns the names of the fields of a schema, also of the objects in it. */
function namesIn(schema: object): string[] {
  const { entries = {}, pipe = [], wrapped, item } = schema as Record<"pipe", object[]> & Record<string, object>;
  const inside = [...(pipe[0] === schema ? pipe.slice(1) : pipe), wrapped, item].flatMap((one) =>
    one ? namesIn(one) : [],
  );
  return [...Object.entries(entries).flatMap(([name, one]) => [name, ...namesIn(one as object)]), ...inside];
}

describe("settings", () => {
  it("tell all problems at once, each with its path", () => {
    const folder = temporaryFolder();
    const problems = problemsOf(() =>
      readSettings(
        {
          device: "",
          network: { model: "none.onnx", optins: {}, threads: 0 },
          sources: [
            { kind: "folder", path: "none" },
            { kind: "rtsp", camera: "a", url: "http://x" },
            { kind: "v4l2", path: "/dev/video0", camera: "a", size: [0, 1] },
            { kind: "disc" },
            { kind: "rtsp", camera: "ä".repeat(257), url: "rtsp://x" },
          ],
          sinks: [
            { kind: "http", url: "ftp://x" },
            { kind: "http", url: "http://x", tokenFile: "none" },
            { kind: "nats", servers: [] },
            { kind: "nats", name: "mail", servers: ["smtp://x"] },
            { kind: "nats", name: "many", servers: ["x"], partitions: 257 },
            { kind: "mqtt", name: "plain", url: "http://user:secr@t/x@broker", topic: "a/#" },
            { kind: "nats", name: "masked", servers: ["smtp://user:secr@t/x@broker"] },
            7,
          ],
          spool: { maxBytes: 1, policy: "drop" },
          preview: { every: 0 },
          health: { port: 99999 },
          traces: { url: "localhost:4318", share: 2 },
          lgo: "info",
        },
        folder,
      ),
    );
    expect(Object.keys(problems).sort()).toEqual(
      [
        "device",
        "health.port",
        "lgo",
        "network.model",
        "network.optins",
        "network.threads",
        "preview.every",
        "traces.share",
        "traces.url",
        "sinks[0].url",
        "sinks[1].name",
        "sinks[1].tokenFile",
        "sinks[2].servers",
        "sinks[3].servers[0]",
        "sinks[4].partitions",
        "sinks[5].topic",
        "sinks[5].url",
        "sinks[6].servers[0]",
        "sinks[7]",
        "sources[0].path",
        "sources[1].url",
        "sources[2].camera",
        "sources[2].size",
        "sources[3].kind",
        "sources[4].camera",
        "spool.maxBytes",
        "spool.policy",
      ].sort(),
    );
    expect(problems["lgo"]).toBe("is not known here. Did you mean log?");
    // Hosts have at most 256 partitions. Packets of partitions above would stay in the stream.
    expect(problems["sinks[4].partitions"]).toContain("from 1 to 256");
    // A password may be in an address that is wrong.
    expect(problems["sinks[5].url"]).toContain('got "http://***@broker", expected an address like mqtt://');
    expect(problems["sinks[6].servers[0]"]).toContain('got "smtp://***@broker"');
    expect(problems["sinks[1].name"]).toContain('got "http", which sinks[0] has');
  });

  it("give each machine a name of its own, whatever its host name, and keep it", () => {
    const machines = [temporaryFolder(), temporaryFolder()];
    const nameOn = (folder: string): string =>
      readSettings(
        {
          state: join(folder, "state"),
          network: { model: MODEL },
          sources: [{ kind: "folder", path: folder }],
          sinks: [{ kind: "ndjson", path: join(folder, "out.ndjson") }],
        },
        folder,
      ).device;
    const [one, other] = machines.map(nameOn);
    expect(one).toMatch(/^\/devices\/.+-[\da-f]{12}$/);
    expect(other).not.toBe(one);
    expect(machines.map(nameOn)).toEqual([one, other]);
    // A file that was cut off is made anew.
    writeFileSync(join(machines[0]!, "state", "device"), "12ab");
    expect(nameOn(machines[0]!)).toMatch(/-[\da-f]{12}$/);
  });

  it("of --photos too: equal photos on two machines of one host name are two frames", () => {
    const state = process.env["XDG_STATE_HOME"];
    const names = [temporaryFolder(), temporaryFolder()].map((folder) => {
      process.env["XDG_STATE_HOME"] = folder;
      return readCommand(["--photos", folder, "--model", MODEL, "--to", join(folder, "out")])!.settings.device;
    });
    if (state === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = state;
    expect(names[0]).not.toBe(names[1]);
  });

  it("have defaults, and paths relative to the file", () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, "s.json"),
      JSON.stringify({
        device: "/devices/7",
        network: { model: MODEL },
        sources: [{ kind: "folder", path: "." }],
        sinks: [{ kind: "ndjson", path: "out.ndjson" }],
      }),
    );
    expect(readSettingsFile(join(folder, "s.json"))).toMatchObject({
      state: join(folder, "boxwright-agent"),
      network: { config: null, outputFormat: "raw", threads: null },
      sources: [{ kind: "folder", watch: false }],
      sinks: [{ kind: "ndjson", name: "ndjson", path: join(folder, "out.ndjson") }],
      spool: { maxBytes: 2 ** 30, policy: "block", fsync: "second" },
      preview: null,
      health: null,
      traces: null,
      log: "info",
    });
  });

  it("stand in the README or in docs/, each by its name", () => {
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const pages = ["README.md", ...readdirSync(join(root, "docs")).map((page) => join("docs", page))];
    const told = pages.map((page) => readFileSync(join(root, page), "utf8")).join("\n");
    const path = pathIn("/");
    const all = [settings(path), ...Object.values({ ...sourceKinds(path), ...sinkKinds(path) })].flatMap(namesIn);
    expect(all).toEqual(expect.arrayContaining(["hub", "adoptKeyFile", "snapBytes", "hwaccel", "confirmSeconds"]));
    expect(all.filter((one) => !new RegExp(`\\b${one}\\b`).test(told))).toEqual([]);
  });

  it("name what is missing, and keep secrets to themselves", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "key"), "secret-of-a-file");
    const problems = problemsOf(() =>
      readSettings(
        {
          device: "d",
          hub: { url: "https://user:secret@hub", adoptKey: "secret", adoptKeyFile: "key" },
          update: { keys: ["ed25519:none"] },
          sources: [{}, { kind: "video" }],
          sinks: [
            { kind: "mqtt", url: "mqtt://b", password: "a\nsecret" },
            { kind: "nats", servers: "nats://u:secret@b" },
          ],
        },
        folder,
      ),
    );
    expect(Object.values(problems).join("\n")).not.toContain("secret");
    expect(problems).toMatchObject({
      device: expect.stringContaining("stands beside hub"),
      "hub.url": expect.stringContaining("expected an address like https://"),
      "hub.adoptKey": "got a text of 6 characters, expected an adopt key of the hub's page, which begins with bwa_",
      "hub.adoptKeyFile":
        "got a text of 16 characters, expected an adopt key of the hub's page, which begins with bwa_",
      "sources[0].kind": 'got nothing, expected "folder", "image", "video", "rtsp", "v4l2"',
      "sources[1].path": "got nothing, expected text of 1 to 1024 characters, without control characters",
      "sinks[1].servers": 'got a string, expected a list of addresses, ["127.0.0.1:4222"]',
    });
  });

  it("that are no JSON, or none at all, are one problem", () => {
    expect(problemsOf(() => readSettingsFile("/none.json"))).toHaveProperty("/none.json");
    expect(problemsOf(() => readSettings([], "/"))).toHaveProperty("settings");
  });
});

describe("settings of another type", () => {
  it.each([
    [null, { settings: "got null, expected a JSON object" }],
    ["text", { settings: 'got "text", expected a JSON object' }],
  ])("are one problem: %j", (json, expected) => {
    expect(problemsOf(() => readSettings(json, "/"))).toEqual(expected);
  });

  it.each(["text", 7, [1, 2], [null]])("inside are one problem each: %j", (given) => {
    const folder = temporaryFolder();
    const [sources, sinks] = [[{ kind: "folder", path: "." }], [{ kind: "ndjson", path: "out" }]];
    for (const key of ["hub", "update", "network", "spool", "preview", "health", "traces"]) {
      const settings = { network: { model: MODEL }, sources, sinks, [key]: given };
      expect(Object.keys(problemsOf(() => readSettings(settings, folder)))).toEqual([key]);
    }
    const listed = problemsOf(() =>
      readSettings({ network: { model: MODEL }, sources: [given], sinks: [given, null] }, folder),
    );
    expect(Object.keys(listed)).toEqual(["sources[0]", "sinks[0]", "sinks[1]"]);
  });

  it("do not show their secrets", () => {
    const folder = temporaryFolder();
    const long = `${"x".repeat(90)}:hidden@cam`;
    const cases = [
      { sources: [{ kind: "rtsp", camera: "a", url: "rtsp://admin:hidden@cam/1\n" }] },
      { sources: [{ kind: "rtsp", camera: "a", url: `http://hidden${long}` }] },
      { sources: ["rtsp://admin:hidden@cam/1", [{ url: "hidden" }], { kind: ["hidden"] }] },
      { sources: [{ kind: "rtsp://admin:hidden@cam/1" }, { kind: "video", path: "rtsp://admin:hidden@cam/1" }] },
      { sinks: { kind: "http", url: "http://x", token: "hidden" } },
      {
        sinks: [
          { kind: "http", url: "http://admin:hidden@x" },
          { kind: "nats", servers: ["u:hidden@x:99999"] },
        ],
      },
      { traces: { url: "http://admin:hidden@x" }, hub: { url: "https://:hidden@hub", adoptKey: { a: "hidden" } } },
      { spool: "admin:hidden@x", log: { a: "hidden" }, network: { model: "http://a:hidden@x" } },
      [{ token: "hidden" }],
    ];
    for (const one of cases) {
      const problems = problemsOf(() => readSettings(one, folder));
      expect(JSON.stringify(problems)).not.toContain("hidden");
    }
    expect(problemsOf(() => readSettings(cases[2], folder))).toMatchObject({
      "sources[0]": 'got "rtsp://***@cam/1", expected a JSON object',
      "sources[1]": "got a list of 1, expected a JSON object",
    });
    expect(problemsOf(() => readSettings(cases[4], folder))["sinks"]).toBe(
      "got an object, expected a list of at least one",
    );
    for (const [i, key] of ["sinks[0].url", "traces.url", "hub.url"].entries())
      expect(problemsOf(() => readSettings(cases[i === 0 ? 5 : 6], folder))).toHaveProperty([key]);
  });

  it("may hold a long token in a file, and no line break in an adopt key", () => {
    const folder = temporaryFolder();
    const token = "x".repeat(1400);
    writeFileSync(join(folder, "token"), `${token}\n`);
    const sinks = [
      { kind: "http", name: "a", url: "http://x", tokenFile: "token" },
      { kind: "mqtt", name: "b", url: "mqtt://x", passwordFile: "token" },
      { kind: "nats", name: "c", servers: ["x"], token },
    ];
    const settings = { network: { model: MODEL }, sources: [{ kind: "folder", path: "." }], sinks };
    expect(readSettings(settings, folder).sinks[0]).toMatchObject({ token });
    const wrong = { ...settings, hub: { url: "https://hub", adoptKey: "bwa_x\n" } };
    expect(problemsOf(() => readSettings(wrong, folder))).toHaveProperty(["hub.adoptKey"]);
  });
});

describe("the command line", () => {
  it("makes settings of a folder of photos", () => {
    const folder = temporaryFolder();
    const command = readCommand([
      "--photos",
      folder,
      "--model",
      MODEL,
      "--to",
      "http://127.0.0.1:1",
      "--labels",
      "coco80",
    ]);
    expect(command!.settings).toMatchObject({
      network: { outputFormat: "detection", options: { labels: "coco80" } },
      sources: [{ kind: "folder", path: folder }],
      sinks: [{ kind: "http", url: "http://127.0.0.1:1" }],
      preview: { every: 2 },
    });
  });

  it("tells its usage, and refuses what it does not know", () => {
    expect(readCommand([])).toBeNull();
    expect(problemsOf(() => readCommand(["--photo", "x"]))["command line"]).toMatch(/--photo/);
    expect(problemsOf(() => readCommand(["a.json", "b.json"]))["command line"]).toMatch(/one settings file/);
  });
});
