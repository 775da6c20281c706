/** Slow senders at the address of quick ones: each device has a share, and pays alone. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sleep, until } from "boxwright-service/testing/wait";
import { Agent } from "../support/agent.ts";
import { startHub, type TestHub } from "../support/hub.ts";
import { png, sha256Of } from "../support/pictures.ts";
import { postSnap, sendSnap, snapOf } from "../support/snaps.ts";

let hub: TestHub;
beforeAll(async () => {
  hub = await startHub({});
});
afterAll(() => hub.stop());

/**
 * Begins to send a file, and sends no byte of it. The hub cuts such a request after some seconds, and a busy machine
 * may run into the limit of requests: the device begins again. Returns a function that ends it.
 */
function beginFile(agent: Agent, path: string, size: number): () => void {
  const { port } = new URL(hub.url);
  const head = `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.credential}\r\nContent-Length: ${size}\r\n\r\n`;
  let socket: Socket;
  let again: NodeJS.Timeout | undefined;
  const begin = (): void => {
    socket = connect(Number(port), "127.0.0.1", () => socket.write(head));
    // An answer is a refusal: no byte was sent.
    socket.on("data", () => socket.destroy()).on("error", () => undefined);
    socket.on("close", () => (again = setTimeout(begin, 500)));
  };
  begin();
  return () => {
    socket.removeAllListeners("close").destroy();
    clearTimeout(again);
  };
}

it("a device with slow uploads has its own share, and others go on", async () => {
  const slow = await Agent.enrol(hub);
  const quick = await Agent.enrol(hub);
  const files = Array.from({ length: 8 }, (_, n) => png(16, 8, [n, 1, 1]));
  const { snap_id } = (await postSnap(slow, snapOf(files))).json;
  const ends = files.map((file) => beginFile(slow, `/device/snaps/${snap_id}/files/${sha256Of(file)}`, file.length));
  let refusal = { extensions: { code: "" } };
  await until(async () => {
    // Pauses leave the files their part of the limit of requests.
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
  for (const end of ends) end();
  await until(async () => (await postSnap(slow, snapOf([png(16, 8, [1, 2, 3])]))).status === 201);
});
