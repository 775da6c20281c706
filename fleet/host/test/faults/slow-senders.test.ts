/** 64 slow senders beside 20 healthy ones, at one address and under one token: nobody healthy is refused. */
import { request, Agent } from "node:http";
import { connect } from "node:net";
import { afterAll, expect, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { sleep } from "boxwright-service/testing/wait";
import { detectionPacket } from "../support/frames.ts";
import { temporaryFolder } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";

const [SLOW, HEALTHY, FRAMES] = [64, 20, 60];
const token = "agent-token-0123456789";

afterAll(() => Child.killAll());

/** Posts a packet. Returns its status. */
function post(url: URL, agent: Agent, body: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-length": body.length };
    const sent = request(url, { method: "POST", agent, headers });
    sent.on("response", (answer) => answer.resume().once("end", () => resolve(answer.statusCode!)));
    sent.on("error", reject).end(body);
  });
}

/** Sends frames of all healthy senders, 20 a second each. Returns statuses other than 204, and the p99 in ms. */
async function sendHealthy(url: URL, round: string): Promise<{ refused: number[]; p99: number }> {
  const times: number[] = [];
  const refused: number[] = [];
  await Promise.all(
    Array.from({ length: HEALTHY }, async (_, sender) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let n = 0; n < FRAMES; n++) {
        const body = detectionPacket(n, { id: `${round}-${sender}-${n}`, source: `/devices/${sender}` });
        const begin = performance.now();
        const status = await post(url, agent, body);
        times.push(performance.now() - begin);
        if (status !== 204) refused.push(status);
        await sleep(50);
      }
      agent.destroy();
    }),
  );
  times.sort((a, b) => a - b);
  return { refused, p99: times[Math.floor(times.length * 0.99)]! };
}

/** Sends bodies of 1 MB at 10 kB/s, one after the other. Returns a function that ends them. */
function sendSlowly({ hostname, port }: URL, count: number): () => void {
  const head = `POST /v1/packets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1000000\r\n\r\n`;
  const open = Array.from({ length: count }, () =>
    connect(Number(port), hostname, function (this: import("node:net").Socket) {
      this.write(head);
    }).on("error", () => undefined),
  );
  const timer = setInterval(() => open.forEach((socket) => socket.writable && socket.write(Buffer.alloc(1000))), 100);
  return () => {
    clearInterval(timer);
    for (const socket of open) socket.destroy();
  };
}

test(`${SLOW} slow senders beside ${HEALTHY} healthy ones`, async () => {
  const folder = temporaryFolder();
  const tokens = { "agent-token": token, "page-token": "page-token-0123456789", address: "127.0.0.1" };
  const host = await HostProcess.start({ database: `${folder.path}/host.db`, ...tokens });
  const url = new URL("/v1/packets", host.url);
  await sendHealthy(url, "warm");
  const quiet = await sendHealthy(url, "quiet");
  const end = sendSlowly(url, SLOW);
  const beside = await sendHealthy(url, "beside");
  end();
  console.log(`p99 of the healthy: ${quiet.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms beside ${SLOW} slow`);
  expect([quiet.refused, beside.refused]).toEqual([[], []]);
  expect(await host.end("SIGTERM")).toBe(0);
});
