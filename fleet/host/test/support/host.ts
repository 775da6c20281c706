/** A host in this process, with a database of its own. */
import { join } from "node:path";
import { inject } from "vitest";
import { readConfig } from "../../src/core/config.ts";
import { createLogger } from "boxwright-service/log";
import { type Host, startHost } from "../../src/host.ts";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { newDatabase } from "boxwright-service/testing/postgres";

export type Kind = "sqlite" | "postgres";
export const kinds = [
  { kind: "sqlite", skip: false },
  { kind: "postgres", skip: inject("postgres") === undefined },
] as const;

export { temporaryFolder };

/** Returns the address of an empty database. */
export const emptyDatabase = (kind: Kind, folder: string): Promise<string> =>
  kind === "postgres" ? newDatabase(inject("postgres")!) : Promise.resolve(join(folder, "host.db"));

export interface TestHost extends Host {
  readonly url: string;
  readonly logs: () => string;
  post(packet: Uint8Array, headers?: Record<string, string>): Promise<Response>;
  putConfig(hash: string, body: string): Promise<Response>;
  lines(query?: string): Promise<any[]>;
  metric(name: string): Promise<number>;
  end(): Promise<void>;
}

/** Starts a host with these options over a free port and an empty database. */
export async function testHost(options: Record<string, unknown> = {}, now?: () => number): Promise<TestHost> {
  const folder = temporaryFolder();
  const database = join(folder.path, "host.db");
  const config = readConfig({ port: 0, threads: 1, database, ...options });
  let logs = "";
  const log = createLogger("info", { destination: { write: (line) => void (logs += line) } });
  const host = await startHost({ config, log, ...(now ? { now } : {}) });
  const url = `http://127.0.0.1:${host.port}`;
  const bearer = (token: unknown): Record<string, string> =>
    typeof token === "string" ? { Authorization: `Bearer ${token}` } : {};
  const asAgent = bearer(options["agentToken"]);
  const asReader = bearer(options["pageToken"]);
  return {
    ...host,
    url,
    logs: () => logs,
    post: (body, headers = {}) =>
      fetch(`${url}/v1/packets`, {
        method: "POST",
        body: body as Uint8Array<ArrayBuffer>,
        headers: { ...asAgent, ...headers },
      }),
    putConfig: (hash, body) => fetch(`${url}/v1/configs/${hash}`, { method: "PUT", body, headers: asAgent }),
    async lines(query = "") {
      const text = await (await fetch(`${url}/v1/detections?${query}`, { headers: asReader })).text();
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
    async metric(name) {
      const text = await (await fetch(`${url}/metrics`, { headers: asReader })).text();
      const line = text.split("\n").find((one) => one.startsWith(name));
      return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(" ")));
    },
    async end() {
      await host.stop();
      folder.remove();
    },
  };
}
