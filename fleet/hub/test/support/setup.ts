/**
 * Looks before all tests what the machine has, and starts one PostgreSQL server for all files. Tests that need
 * PostgreSQL, Chromium or openssl are skipped without it, and this says so. With HUB_CI=1 a missing one is an error.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { chromiumPath } from "boxwright-service/testing/chromium";
import { SmallDisk } from "./disk.ts";
import { findPostgres, PostgresServer } from "boxwright-service/testing/postgres";

declare module "vitest" {
  export interface ProvidedContext {
    postgres: string | undefined;
    chromium: string | undefined;
    openssl: boolean;
    nginx: boolean;
    systemd: boolean;
    /** True if tests may mount a small disk, and fill it. */
    mount: boolean;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const full = process.env["HUB_CI"] === "1";
  const openssl = spawnSync("openssl", ["version"]).status === 0;
  const nginx = existsSync("/usr/sbin/nginx");
  const systemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
  const promtool = spawnSync("promtool", ["--version"]).status === 0;
  const disk = SmallDisk.mount(1);
  disk?.unmount();
  const missing: string[] = [];
  if (findPostgres() === undefined) missing.push("PostgreSQL (Debian: postgresql): the tests on PostgreSQL");
  if (chromiumPath === undefined) missing.push("Chromium (Debian: chromium): the tests of the pages in a browser");
  if (!openssl) missing.push("openssl (Debian: openssl): the tests of TLS");
  if (!nginx) missing.push("nginx (Debian: nginx-light): the test of the proxy example");
  if (!systemd) missing.push("systemd-analyze (Debian: systemd): the test of the unit");
  if (!promtool) missing.push("promtool (Debian: prometheus): the test of the alert rules");
  if (disk === undefined)
    missing.push("right to mount a disk (root, or sudo without a password): the tests of a full disk");
  if (missing.length > 0) {
    if (full) throw new Error(`HUB_CI=1: got a machine without ${missing.join("; without ")}`);
    console.warn(missing.map((what) => `SKIPPED, because this machine has no ${what}.`).join("\n"));
  }
  const server = findPostgres() === undefined ? undefined : await PostgresServer.create();
  project.provide("postgres", server?.url);
  project.provide("chromium", chromiumPath);
  project.provide("openssl", openssl);
  project.provide("nginx", nginx && openssl);
  project.provide("systemd", systemd);
  project.provide("mount", disk !== undefined);
  return async () => server?.remove();
}
