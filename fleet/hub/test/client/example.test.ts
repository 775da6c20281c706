/** The backend of the example: the key stays on the server. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createHubClient } from "../../client/index.ts";
import { createBackend } from "../../examples/backend/server.ts";
import { chromiumFlags } from "boxwright-service/testing/chromium";
import { startHub, temporaryFolder, type TestHub } from "../support/hub.ts";

let hub: TestHub;
beforeAll(async () => void (hub = await startHub({ devices: ["north", "south"] })));
afterAll(() => hub.stop());

describe("the recommended pattern (22)", () => {
  it("carries the key neither in the built frontend nor in anything the browser gets or sends", async () => {
    const web = mkdtempSync(join(temporaryFolder().path, "web-"));
    // As a careless build machine would: with the key in its environment.
    process.env["HUB_API_KEY"] = hub.key;
    process.env["VITE_NOTHING"] = "x";
    try {
      await build({
        root: fileURLToPath(new URL("../../examples/backend/web/", import.meta.url)),
        build: { outDir: web, emptyOutDir: true, sourcemap: true },
        logLevel: "silent",
        configFile: false,
      });
    } finally {
      delete process.env["HUB_API_KEY"];
      delete process.env["VITE_NOTHING"];
    }
    const files = readdirSync(web, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const text = readFileSync(join(file.parentPath, file.name), "utf8");
      expect(text).not.toMatch(/hub_[0-9A-Za-z]{12}_/);
      expect(text).not.toContain(hub.url);
    }
    const traffic: string[] = [];
    const backend = createBackend(createHubClient({ baseUrl: hub.url, apiKey: hub.key }), web);
    await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
    try {
      expect(await (await fetch(`${url}/api/devices`)).json()).toEqual([{ name: "north" }, { name: "south" }]);
      expect((await fetch(`${url}/../../package.json`)).status).toBe(404);
      const executablePath = inject("chromium");
      if (executablePath !== undefined) {
        const browser = await chromium.launch({ executablePath, args: chromiumFlags });
        const page = await browser.newPage();
        page.on("request", (request) =>
          traffic.push(request.url(), JSON.stringify(request.headers()), request.postData() ?? ""),
        );
        const bodies: Promise<void>[] = [];
        page.on("response", (response) => {
          traffic.push(JSON.stringify(response.headers()));
          bodies.push(
            response.text().then(
              (text) => void traffic.push(text),
              () => undefined,
            ),
          );
        });
        await page.goto(url);
        await page.getByText("south").waitFor();
        await Promise.all(bodies);
        await browser.close();
        expect(traffic.join("\n")).toContain("north");
        for (const piece of traffic) {
          expect(piece).not.toContain(hub.key.slice(4));
          expect(piece).not.toContain("Bearer");
          expect(piece).not.toContain("/graphql");
        }
      }
      await hub.storage.db.write((tx) => tx.all("UPDATE api_keys SET revoked_at = 1 WHERE id = ?", [hub.keyId]));
      const failed = await fetch(`${url}/api/devices`);
      expect([failed.status, await failed.text()]).toEqual([
        502,
        '{"error":"devices are not available at the moment"}',
      ]);
    } finally {
      backend.closeAllConnections();
      backend.close();
      rmSync(web, { recursive: true, force: true });
    }
  });
});
