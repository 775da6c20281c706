/** Bodies that are read whole: their limits, and what the sender hears. */
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { BodyError, readText } from "../../src/http/body.ts";
import { Exchange } from "../../src/http/exchange.ts";
import { listen } from "../../src/http/listen.ts";
import { createLogger } from "../../src/log.ts";

/** Starts a server that answers with the length of each body, or why it is not read. Returns the port. */
async function start(most: number, reads = true): Promise<number> {
  const listening = await listen({
    place: { address: "127.0.0.1", port: 0, addressName: "address", portName: "port" },
    listener: (request, response) => {
      const exchange = new Exchange(request, response, { bodyMs: 60_000 });
      if (!reads) return exchange.sendJson(401, {});
      readText(exchange, { most }).then(
        (text) => exchange.sendJson(200, { length: text.length }),
        (error: unknown) => exchange.sendJson(400, { kind: error instanceof BodyError ? error.kind : String(error) }),
      );
    },
    log: createLogger("silent"),
    ...{ maxHeaderSize: 4096, perAddress: undefined, connections: 10, onRefused: () => undefined, drainMs: 1000 },
  });
  onTestFinished(() => listening.stop());
  return listening.port;
}

/** Sends bytes, and returns what comes back up to a pattern. */
const talk = (port: number, bytes: string | Buffer, until: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes)).on("error", reject);
    const done = (): void => resolve((socket.destroy(), text));
    socket.on("data", (chunk) => until.test((text += chunk.toString())) && done()).on("close", done);
  });

const post = (length: number, more = "") => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${more}\r\n`;

it("reads up to the limit, and names what it does not read", async () => {
  const port = await start(10);
  const ask = async (body: Uint8Array | string, headers = {}): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: body as never, headers })).json();
  expect(await ask("é".repeat(5))).toEqual({ length: 5 });
  expect(await ask("x".repeat(11))).toEqual({ kind: "too large" });
  expect(await ask(new Uint8Array([0xc3, 0x28]))).toEqual({ kind: "not text" });
  expect(await ask("x", { "content-encoding": "gzip" })).toEqual({ kind: "encoded" });
  // A sender that writes all before it reads hears the answer, too.
  expect(await ask("x".repeat(3_000_000))).toEqual({ kind: "too large" });
});

it("says 100 Continue only where it reads the body", async () => {
  const expecting = post(5, "Expect: 100-continue\r\n");
  expect(await talk(await start(10), expecting, /\r\n\r\n/)).toMatch(/^HTTP\/1.1 100 /);
  expect(await talk(await start(3), expecting, /\r\n\r\n/)).toMatch(/^HTTP\/1.1 400 /);
  expect(await talk(await start(10, false), expecting, /\r\n\r\n/)).toMatch(/^HTTP\/1.1 401 /);
});

it("cuts a sender that goes on after its answer", async () => {
  const port = await start(10, false);
  // The whole of it never comes. Without the cut, this waits for as long as the test may take.
  expect(await talk(port, post(1000, "") + "x", /never/)).toMatch(/^HTTP\/1.1 401 /);
});
