import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { HubClient } from "../../src/hub/client.ts";
import { Snaps } from "../../src/hub/snaps.ts";
import type { Network } from "../../src/network/network.ts";
import { temporaryFolder } from "../support/folder.ts";

describe("sendNext without a snap", () => {
  it("returns at the end alone: a return tells that the hub has answered", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const snaps = new Snaps({
      ...{ state: join(temporaryFolder(), "state"), maxBytes: 1000, log: pino({ level: "silent" }) },
      ...{ network: {} as Network, rules: () => [], application: () => null },
    });
    const end = new AbortController();
    let isBack = false;
    const sending = snaps.sendNext({} as HubClient, end.signal).then(() => (isBack = true));
    for (let minute = 0; minute < 10; minute++) {
      await vi.advanceTimersByTimeAsync(60_000);
      await setImmediate();
    }
    expect(isBack).toBe(false);
    end.abort();
    await sending;
  });
});
