/** Blocks that call a hub. */
import { expect } from "vitest";
import type { Row } from "./row.ts";

const KEY = `hub_${"0".repeat(12)}_${"0".repeat(38)}`;

/** What a hub answers to the calls of the pages. Its own tests run the client beside a hub. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  devices: Promise.resolve([{ id: "7", name: "door" }]),
  query: Promise.resolve({ team: {} }),
  createDeviceGroup: Promise.resolve({ id: "1" }),
  createApp: Promise.resolve({ identifier: "people" }),
  saveAppVersion: Promise.resolve({ version: { number: 1 } }),
  assignApp: Promise.resolve({}),
  createAlertRule: Promise.resolve({ id: "1" }),
  snaps: [{ createdAt: "today", files: [{ url: "address" }] }],
};
const client = (await import(`${"../../fleet"}/hub/client/index.ts`)) as {
  createHubClient(options: object): Record<string, unknown>;
};

/** Returns a client that answers by ANSWERS, and has no method that the client of a hub lacks. */
function createHubClient(options: object): object {
  const methods = Object.keys(ANSWERS).filter((name) => name in client.createHubClient(options));
  return Object.fromEntries(methods.map((name) => [name, () => ANSWERS[name]]));
}

export const HUB_ROWS: readonly Row[] = [
  {
    page: "fleet/hub/README.md",
    has: "createHubClient({",
    given: () => ({ process: { env: { HUB_API_KEY: KEY } } }),
    modules: { "boxwright-hub-client": { createHubClient } },
    check: (_, printed) => expect(printed).toEqual([["7", "door"]]),
  },
  {
    page: "fleet/hub/docs/clients.md",
    has: "hub.saveAppVersion(",
    given: () => ({
      createHubClient,
      config: {},
      process: { env: { HUB_URL: "https://hub.example.org", HUB_API_KEY: KEY } },
    }),
    check: (_, printed) =>
      expect(printed).toEqual([
        ["7", "door"],
        ["today", "address"],
      ]),
  },
];
