/** Slow senders at the address of quick ones: each device has a share, and pays alone. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sleep, until } from "boxwright-service/testing/wait";
import { Agent } from "../support/agent.ts";
import { startHub, type TestHub } from "../support/hub.ts";
import { png } from "../support/pictures.ts";
import { postSnap, sendSnap, snapOf } from "../support/snaps.ts";

let hub: TestHub;
beforeAll(async () => {
  // Nothing ends the slow bodies while the test looks, on a busy machine either.
  hub = await startHub({ timeouts: { headers: 600_000, request: 600_000, standstill: 600_000 } });
});
afterAll(() => hub.stop());

/** Begins to send what a snap is, and sends no byte of it. */
function beginSnap(agent: Agent): Socket {
  const head = `POST /device/snaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.credential}\r\nContent-Length: 9\r\n\r\n`;
  const socket = connect(hub.running.port, "127.0.0.1", () => socket.write(head));
  return socket.on("error", () => undefined);
}

it("a device with slow uploads has its own share, and others go on", async () => {
  const slow = await Agent.enrol(hub);
  const quick = await Agent.enrol(hub);
  const bodies = Array.from({ length: 8 }, () => beginSnap(slow));
  let refusal = { extensions: { code: "" } };
  await until(async () => {
    // Pauses keep the questions below the limit of requests.
    await sleep(500);
    const { json } = await postSnap(slow, snapOf([png(16, 8, [1, 2, 3])]));
    [refusal] = json.errors ?? [refusal];
    return refusal.extensions.code === "too_many_bodies";
  });
  expect(refusal).toMatchObject({
    message: expect.stringContaining("got 8 requests of this sender at once already, expected at most 8"),
    extensions: { code: "too_many_bodies" },
  });
  await sendSnap(quick, [png(16, 8, [9, 9, 9])]);
  for (const body of bodies) body.destroy();
  await until(async () => (await postSnap(slow, snapOf([png(16, 8, [1, 2, 3])]))).status === 201);
});
