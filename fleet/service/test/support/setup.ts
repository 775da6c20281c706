/** Starts one PostgreSQL server for all files. Without one, its half of the contract is skipped, and this says so. */
import { findPostgres, PostgresServer } from "../../src/testing/postgres.ts";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Address of a PostgreSQL server whose user may make databases. */
    postgres: string | undefined;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = findPostgres() === undefined ? undefined : await PostgresServer.create();
  if (server === undefined && process.env["CI"])
    throw new Error("CI: got a machine without PostgreSQL (Debian: postgresql)");
  if (server === undefined) console.warn("SKIPPED, because this machine has no PostgreSQL: its half of the contract.");
  project.provide("postgres", server?.url);
  return async () => server?.remove();
}
