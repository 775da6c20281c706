import { expect, test } from "vitest";
import { readConfig } from "../../src/core/config.ts";

const agentToken = "agent-token-0123456789";
const pageToken = "page-token-0123456789";

const problemsOf = (file: unknown, flags = {}): string => {
  try {
    readConfig(file, flags);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test("defaults: this machine alone, SQLite, no broker", () => {
  expect(readConfig({})).toMatchObject({
    address: "127.0.0.1",
    database: "boxwright-host.db",
    nats: undefined,
    configs: [],
  });
});

test("both tokens open the port, one does not", () => {
  expect(readConfig({ agentToken, pageToken }).address).toBe("0.0.0.0");
  expect(readConfig({ agentToken }).address).toBe("127.0.0.1");
  expect(readConfig({ agentToken, pageToken, address: "127.0.0.1" }).address).toBe("127.0.0.1");
});

test("an address that others reach needs both tokens, or a hub in place of that of the agents", () => {
  expect(problemsOf({ address: "0.0.0.0" })).toContain("without agentToken (or hub) and pageToken;");
  expect(problemsOf({ address: "192.168.0.7", agentToken })).toContain("without pageToken;");
  expect(problemsOf({ address: "192.168.0.7", hub: "http://localhost:8787" })).toContain("without pageToken;");
  expect(problemsOf({ address: "192.168.0.7", hub: "http://localhost:8787", pageToken })).toBe("");
  expect(problemsOf({ address: "127.0.0.2" })).toBe("");
});

test("all problems are told at once, and no secret is", () => {
  const told = problemsOf({ port: "x", agentToken: "short", colour: 1, consume: [3], partitions: 2, queue: 0 });
  for (const part of [
    "5 problems",
    "port: got",
    "agentToken: got a text of 5",
    "colour: got",
    "consume: got 3",
    "queue:",
  ])
    expect(told).toContain(part);
  expect(told).not.toContain("short");
  expect(problemsOf([])).toContain("expected a JSON object");
  expect(problemsOf({ agentToken, pageToken: agentToken })).toContain("expected another");
});

test.each(["http://localhost:4318x", "http://user:secret@collector:4318", "http://:secret@c", "c:4318", 7])(
  "a collector's address that fetch refuses is a problem: %s",
  (traces) => {
    const told = problemsOf({}, { traces });
    expect(told).toContain("traces: got another text, expected the address of a collector, like http://localhost:4318");
    expect(told).not.toContain("secret");
  },
);

test("no value that may hold a secret is repeated", () => {
  const told = [
    problemsOf([{ agentToken: "hidden" }]),
    problemsOf({ hub: "https://user:hidden@hub", configs: { a: "hidden" }, webhooks: ["https://user:hidden@hook"] }),
    problemsOf({ hub: "https://:hidden@hub", webhooks: { secret: "hidden" }, port: `http://${"hidden".repeat(20)}@x` }),
  ].join("\n");
  expect(told).toContain('hub: got "https://***@hub", expected an address like https://hub.example.org');
  expect(told).not.toContain("hidden");
});

test("flags go before the file, and lists may have commas", () => {
  const config = readConfig({ port: 1, partitions: 4 }, { port: "2", consume: "0,3", configs: "a.json,b.json" });
  expect(config).toMatchObject({ port: 2, consume: [0, 3], configs: ["a.json", "b.json"] });
});
