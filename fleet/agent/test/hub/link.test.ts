/** Tests that tasks which ask the hub nothing leave the state of the link to a hub unchanged. */
import { expect, it } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { pino } from "pino";
import { wait } from "../../src/core/wait.ts";
import { RevokedError } from "../../src/hub/client.ts";
import { HubLink, type LinkParts } from "../../src/hub/link.ts";
import { temporaryFolder } from "../support/folder.ts";

it("stays refused while a task ends that asked the hub nothing", async () => {
  const end = new AbortController();
  const forever = (): Promise<void> => wait(2 ** 30, end.signal);
  let turns = 0;
  const link = new HubLink({
    client: {
      ...{ answers: 0, identity: { hub: "http://127.0.0.1:9", deviceId: "d1" } },
      ask: () => Promise.reject(new RevokedError(401, "no such credential")),
    },
    application: { report: null, reported: null, etag: null },
    ...{ firstBeat: 0, status: () => ({}), pause: { isPaused: false }, state: temporaryFolder() },
    ...{ snaps: { sendNext: forever }, logs: { sendNext: forever } },
    updates: { followNext: () => Promise.resolve(turns++) },
    shadow: { followNext: forever, report: null, close: () => undefined },
    log: pino({ level: "silent" }),
  } as unknown as LinkParts);
  const running = link.run(end.signal);
  await until(() => turns > 1, "a second turn");
  expect(link.isRevoked).toBe(true);
  end.abort();
  await running;
});
