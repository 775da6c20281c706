/** Tests that connections whose client is gone without a close make room for others. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { readText } from "../../src/http/body.ts";
import { Exchange } from "../../src/http/exchange.ts";
import { type ConnectionLimit, listen } from "../../src/http/listen.ts";
import { createLogger } from "../../src/log.ts";
import { until } from "../../src/testing/wait.ts";

it("cuts half-open connections, in a head, in a body and between requests, and takes new ones", async () => {
  const refused: ConnectionLimit[] = [];
  const listening = await listen({
    place: { address: "127.0.0.1", port: 0, addressName: "address", portName: "port" },
    listener: (request, response) => {
      const exchange = new Exchange(request, response, { bodyMs: 600_000 });
      readText(exchange, { most: 100 }).then(
        (text) => exchange.sendJson(200, { text }),
        () => undefined,
      );
    },
    log: createLogger("silent"),
    ...{ maxHeaderSize: 4096, perAddress: 3, connections: 10, drainMs: 1000, headersMs: 600_000 },
    standstillMs: 1000,
    onRefused: (limit) => void refused.push(limit),
  });
  onTestFinished(() => listening.stop());
  let closed = 0;
  const open = async (text: string): Promise<Socket> => {
    const socket = connect(listening.port, "127.0.0.1").on("error", () => undefined);
    socket.once("close", () => closed++).resume();
    await once(socket, "connect");
    socket.write(text);
    return socket;
  };
  const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n";
  // None of them says a word more, nor that it ends.
  await open(head);
  await open(`${head}\r\nhalf`);
  await open("");
  const fourth = await open("");
  await once(fourth, "close");
  expect(refused).toEqual(["address"]);
  await until(() => closed === 4, "the ends of connections that stand still");
  const answer = await fetch(`http://127.0.0.1:${listening.port}/`, { method: "POST", body: "whole" });
  expect(await answer.json()).toEqual({ text: "whole" });
});
