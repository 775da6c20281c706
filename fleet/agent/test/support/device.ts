/** An agent of this process as the device of a hub, with a host. All of them end with the test. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLogger, type Logger } from "boxwright-service/log";
import { until } from "boxwright-service/testing/wait";
import { onTestFinished } from "vitest";
import { Agent } from "../../src/agent.ts";
import { RecentLog } from "../../src/core/recent-log.ts";
import { readSettings } from "../../src/settings/read.ts";
import { temporaryFolder, writePhotos } from "./folder.ts";
import { FakeHost } from "./host.ts";
import { ADOPT_KEY, FakeHub } from "./hub.ts";

/** Returns what the state folder keeps of the device's identity. */
export const identityOf = (state: string): Record<string, string> =>
  JSON.parse(readFileSync(join(state, "hub.json"), "utf8")) as Record<string, string>;

export interface Setup {
  readonly folder: string;
  readonly state: string;
  readonly hub: FakeHub;
  readonly host: FakeHost;
  /** Lines of the log. */
  readonly lines: string[];
  readonly log: Logger;
  /** Starts an agent, which ends with the test. @param more settings that differ */
  readonly start: (more?: object) => Promise<Agent>;
  /** Adds photos, and waits until the host has them. */
  readonly send: (count: number) => Promise<void>;
  /** Waits until the agent has its first token. Packets may go before it. */
  readonly untilToken: () => Promise<void>;
}

/**
 * Makes a folder, a hub and a host of one device.
 * @param recent also gets the lines of the log, and sends them to the hub
 */
export async function setUp(recent = new RecentLog()): Promise<Setup> {
  const folder = temporaryFolder();
  const state = join(folder, "state");
  mkdirSync(join(folder, "photos"));
  const hub = await new FakeHub().start();
  const host = await new FakeHost().start();
  onTestFinished(() => Promise.all([hub.stop(), host.stop()]).then(() => undefined));
  const lines: string[] = [];
  const write = (line: string): void => (lines.push(line), recent.add(line));
  const log = createLogger("info", { destination: { write } });
  let photos = 0;
  return {
    ...{ folder, state, hub, host, lines, log },
    async start(more = {}) {
      const settings = {
        state: "state",
        hub: { url: hub.url, adoptKey: ADOPT_KEY, name: "Front door" },
        sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
        sinks: [{ kind: "http", url: host.url }],
        ...more,
      };
      const agent = await Agent.start(readSettings(settings, folder), log, recent);
      let isClosed = false;
      const close = agent.close.bind(agent);
      agent.close = () => (isClosed ? Promise.resolve() : ((isClosed = true), close()));
      onTestFinished(() => agent.close());
      void agent.run();
      return agent;
    },
    async send(count) {
      const before = host.stored.size;
      await writePhotos(join(folder, "photos"), count, photos);
      photos += count;
      await until(() => host.stored.size === before + count, `${count} packets`);
    },
    untilToken: () => until(() => identityOf(state)["token"] === "token.of-the-device.0", "the token"),
  };
}
