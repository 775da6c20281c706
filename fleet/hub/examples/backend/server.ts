/**
 * The recommended pattern:
 *
 *     frontend  --GET /api/devices-->  this backend (holds the key)  --query-->  hub
 *               <--[{ "name" }]------                                <--data---
 *
 * The key comes from the environment and goes into the client. Nothing that is sent to a browser holds it. This backend
 * chooses field by field what the frontend gets.
 *
 * Run it: HUB_URL=http://localhost:8787 HUB_API_KEY=hub_... npm run example
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { createHubClient, HubError, type HubClient } from "../../client/index.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** Makes the backend. `web` is the folder of the built frontend. */
export function createBackend(hub: HubClient, web: string): Server {
  return createServer((request, response) => {
    const answer = async (): Promise<void> => {
      // Your own sign-in belongs here: at present, everybody who can load this page sees the device names.
      if (request.url === "/api/devices") {
        const devices = await hub.devices();
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify(devices.map(({ name }) => ({ name }))));
        return;
      }
      const path = normalize(join("/", request.url?.split("?")[0] ?? "/"));
      const file = join(web, path === "/" ? "index.html" : path);
      if (
        !(await stat(file).then(
          (found) => found.isFile(),
          () => false,
        ))
      ) {
        response.writeHead(404).end();
        return;
      }
      response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
      createReadStream(file).pipe(response);
    };
    answer().catch((error: unknown) => {
      // Log the reason for the operator of this backend. The browser only learns that the request failed.
      console.error(error instanceof HubError ? `${error.name}: ${error.message}` : error);
      response
        .writeHead(502, { "content-type": "application/json" })
        .end('{"error":"devices are not available at the moment"}');
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const hub = createHubClient({
    baseUrl: process.env["HUB_URL"] ?? "http://localhost:8787",
    apiKey: process.env["HUB_API_KEY"],
  });
  const port = Number(process.env["PORT"] ?? 3000);
  createBackend(hub, fileURLToPath(new URL("../../example-web/", import.meta.url))).listen(port, "127.0.0.1", () =>
    console.log(`http://localhost:${port}`),
  );
}
