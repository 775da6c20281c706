/** The unit and the proxy example, run as an operator runs them. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import https from "node:https";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { untilPasses } from "boxwright-service/testing/wait";
import { startHub, temporaryFolder, type TestHub } from "../support/hub.ts";
import { startNginx, type Nginx } from "boxwright-service/testing/nginx";
import { sha256Of } from "../support/pictures.ts";
import { BODY } from "../support/raw.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (name: string): string => readFileSync(join(root, "deploy", name), "utf8");

let folder: { path: string; remove: () => void };
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

describe.skipIf(!inject("systemd"))("the systemd unit", () => {
  it("is accepted by systemd, and confined", () => {
    const unit = join(folder.path, "boxwright-hub.service");
    // The program must be there for systemd to accept it.
    writeFileSync(
      unit,
      read("boxwright-hub.service").replace("ExecStart=boxwright-hub", `ExecStart=${process.execPath}`),
    );
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", unit], { encoding: "utf8" });
    expect([verified.status, verified.stdout + verified.stderr]).toEqual([0, ""]);
    const level = ["security", "--offline=true", "--threshold=20", "--no-pager", unit];
    const secure = spawnSync("systemd-analyze", level, { encoding: "utf8" });
    expect([secure.status, secure.stdout.split("\n").at(-2)]).toEqual([0, expect.stringContaining("OK")]);
  });
});

describe("the files of deploy/", () => {
  it("call only commands and settings that there are", () => {
    const help = execFileSync(process.execPath, [join(root, "dist/cli/main.js"), "--help"], { encoding: "utf8" });
    for (const name of ["boxwright-hub.service", "nginx.conf", "Containerfile", "../../compose.yaml"]) {
      for (const [setting] of read(name).matchAll(/\bHUB_[A-Z_]+\b/g))
        expect([name, setting, help]).toEqual([name, setting, expect.stringContaining(setting)]);
      for (const [command] of read(name).matchAll(/\bboxwright-hub (init|serve|keys|teams)\b/g))
        expect(help).toContain(command);
    }
    expect(read("boxwright-hub.service")).toMatch(/^ExecStart=boxwright-hub serve --create$/m);
    expect(read("Containerfile")).toContain('CMD ["boxwright-hub", "serve", "--create"]');
  });
});

describe.skipIf(!inject("nginx"))("the proxy example in nginx", () => {
  let hub: TestHub;
  let nginx: Nginx;
  beforeAll(async () => {
    hub = await startHub({
      isClockStopped: true,
      env: { HUB_BASE_URL: "https://hub.example.org", HUB_ADDRESS_RATE: "1", HUB_ADDRESS_BURST: "5" },
    });
    nginx = await startNginx(join(root, "deploy/nginx.conf"), hub.running.port);
    await untilPasses(async () => expect((await send("GET", "/readyz", "127.0.0.1")).status).toBe(200));
  });
  afterAll(async () => {
    await nginx.stop();
    await hub.stop();
  });

  function send(
    method: string,
    path: string,
    localAddress: string,
    headers: Record<string, string> = {},
    body: string | Buffer = "",
  ) {
    return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const { port, ca } = nginx;
      const tls = { ca: readFileSync(ca), servername: "hub.example.org", agent: false };
      const options = { host: "127.0.0.1", port, method, path, localAddress, ...tls };
      https
        .request({ ...options, headers: { host: "hub.example.org", ...headers } }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () => resolve({ status: response.statusCode, text }));
        })
        .on("error", reject)
        .end(body);
    });
  }
  const json = () => ({ authorization: `Bearer ${hub.key}`, "content-type": "application/json" });

  it("passes pages, forms and queries on", async () => {
    expect((await send("GET", "/sign-in", "127.0.0.2")).text).toContain("Sign in");
    const answer = await send("POST", "/graphql", "127.0.0.2", json(), BODY);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("north")]);
    const form = { origin: "https://hub.example.org", "content-type": "application/x-www-form-urlencoded" };
    const signedIn = await send(
      "POST",
      "/sign-in",
      "127.0.0.2",
      form,
      `email=${hub.admin.email}&password=correct horse battery`,
    );
    expect(signedIn.status).toBe(303);
  });

  it("passes large model files on", async () => {
    const bytes = Buffer.alloc(3 * 2 ** 20, "model");
    const sent = await send("PUT", `/models/${sha256Of(bytes)}`, "127.0.0.5", json(), bytes);
    expect([sent.status, sent.text]).toEqual([201, expect.stringContaining(String(bytes.length))]);
  });

  it("hides /metrics, and counts callers by their own address, whatever they write", async () => {
    expect((await send("GET", "/metrics", "127.0.0.3")).status).toBe(404);
    const forged = (i: number) => ({ ...json(), "x-forwarded-for": `198.51.100.${i}` });
    // The caller has a burst of five, and one more a second of the hub's clock, which stands still.
    const sent = Array.from({ length: 30 }, (_, i) => send("POST", "/graphql", "127.0.0.3", forged(i), BODY));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...new Array(5).fill(200), ...new Array(25).fill(429)]);
    expect((await send("POST", "/graphql", "127.0.0.4", json(), BODY)).status).toBe(200);
    expect(hub.logs()).toContain('"address":"127.0.0.3"');
    expect(hub.logs()).not.toContain("198.51.100.");
  });
});
