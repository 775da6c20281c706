/**
 * Looks before all tests what the machine has, and starts one PostgreSQL server for all files. Tests that need what is
 * missing are skipped, and this says so. With BOXWRIGHT_HOST_CI=1 that is an error.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { natsServer } from "boxwright-service/testing/broker";
import { mosquitto } from "boxwright-service/testing/mosquitto";
import { chromiumPath } from "boxwright-service/testing/chromium";
import { canMount } from "boxwright-service/testing/mount";
import { findPostgres, PostgresServer } from "boxwright-service/testing/postgres";

declare module "vitest" {
  export interface ProvidedContext {
    /** Address of a PostgreSQL server whose user may make databases. */
    postgres: string | undefined;
    nats: boolean;
    mosquitto: boolean;
    chromium: string | undefined;
    /** True if a test may mount a small disk for itself. */
    disk: boolean;
    nginx: boolean;
    systemd: boolean;
    /** True if the agent beside this workspace is built. */
    agent: boolean;
    /** True if the hub beside this workspace is built. */
    hub: boolean;
  }
}

/** True if the command of a workspace beside this one is built. */
const isBuilt = (part: string): boolean =>
  existsSync(fileURLToPath(new URL(`../../../${part}/dist/cli/main.js`, import.meta.url)));

const has = (command: string): boolean => spawnSync("which", [command]).status === 0;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = findPostgres() === undefined ? undefined : await PostgresServer.create();
  const systemd = has("systemd-analyze");
  const hasNginx = existsSync("/usr/sbin/nginx");
  const [agent, hub] = [isBuilt("agent"), isBuilt("hub")];
  const missing = [
    ...(postgres ? [] : ["PostgreSQL (Debian: postgresql)"]),
    ...(natsServer ? [] : ["nats-server (Debian: nats-server)"]),
    ...(mosquitto ? [] : ["mosquitto (Debian: mosquitto)"]),
    ...(chromiumPath ? [] : ["Chromium (Debian: chromium)"]),
    ...(canMount ? [] : ["mount namespaces (Debian: util-linux, mount; containers may forbid them)"]),
    ...(hasNginx ? [] : ["nginx (Debian: nginx-light)"]),
    ...(systemd ? [] : ["systemd-analyze (Debian: systemd)"]),
    ...(agent ? [] : ["built agent (../agent: npm run build)"]),
    ...(hub ? [] : ["built hub (../hub: npm run build)"]),
  ];
  if (missing.length > 0 && process.env["BOXWRIGHT_HOST_CI"] === "1")
    throw new Error(`BOXWRIGHT_HOST_CI=1: got a machine without ${missing.join(", ")}`);
  for (const what of missing) console.warn(`SKIPPED, because this machine has no ${what}: tests that need it.`);
  project.provide("postgres", postgres?.url);
  project.provide("nats", natsServer !== undefined);
  project.provide("mosquitto", mosquitto !== undefined);
  project.provide("chromium", chromiumPath);
  project.provide("disk", canMount);
  project.provide("nginx", hasNginx);
  project.provide("systemd", systemd);
  project.provide("agent", agent);
  project.provide("hub", hub);
  return async () => postgres?.remove();
}
