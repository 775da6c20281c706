import * as v from "valibot";
import { expect, test } from "vitest";
import { readFlags } from "../src/flags.ts";
import { nearest } from "../src/names.ts";
import { databasePlace, misspeltVariables } from "../src/schema/options.ts";

const known = { "page-token": "text", port: "text", watch: "switch" } as const;

test("every wrong flag is told at once, with the one that was meant", () => {
  const { problems, values, words } = readFlags(
    ["--pagetoken", "x", "--prot=1", "--colour", "red", "-p", "8", "--watch=no", "file", "--port"],
    known,
  );
  expect(problems).toEqual([
    "--pagetoken: is not known. Did you mean --page-token?",
    "--prot: is not known. Did you mean --port?",
    "--colour: is not known, expected one of --page-token, --port, --watch",
    "-p: is not known, expected one of --page-token, --port, --watch",
    "--watch: got a value, expected the flag alone",
    "--port: got no value, expected one",
  ]);
  expect(values).toEqual({ watch: true });
  expect(words).toEqual(["file"]);
});

test("values stand behind a blank or =, and -- ends the flags", () => {
  const { values, words, problems } = readFlags(["--port", "-1", "--page-token=a=b", "a", "--", "--watch"], known);
  expect({ values, words, problems }).toEqual({
    values: { port: "-1", "page-token": "a=b" },
    words: ["a", "--watch"],
    problems: [],
  });
});

test.each([
  ["keepDay", "keepDays"],
  ["databse", "database"],
  ["log-levle", "logLevel"],
  ["maxPacket", "maxPacketBytes"],
  ["colour", undefined],
  ["__proto__", undefined],
])("%s means %s", (given, meant) => {
  expect(nearest(given, ["keepDays", "database", "logLevel", "maxPacketBytes", "port"])).toBe(meant);
});

test("an address of an unknown kind is no place of a database, and its password is not repeated", () => {
  for (const place of ["h.db", "/var/lib/h.db", "C:/h.db", "postgres://a:pw@h/x", "postgresql://h/x"])
    expect(v.parse(databasePlace, place)).toBe(place);
  for (const place of ["postgress://a:hunter2@h/x", "mysql://a:hunter2@h/x", "POSTGRE://a:hunter2@h/x"]) {
    expect(() => v.parse(databasePlace, place)).toThrow(/expected postgres:\/\//);
    expect(() => v.parse(databasePlace, place)).not.toThrow(/hunter2/);
  }
});

test("a misspelt variable is told, one of another program is not", () => {
  const env = { HUB_PROT: "1", HUB_PORT: "2", HUB_DATABSE_FILE: "", HUB_PORT_80_TCP: "tcp", HUB_SERVICE_HOST: "x" };
  expect(misspeltVariables(env, "HUB_", ["HUB_PORT", "HUB_DATABASE_FILE"])).toEqual([
    "HUB_PROT: got a variable that nobody reads. Did you mean HUB_PORT?",
  ]);
  const others = { BOXWRIGHT_PAGETOKEN: "secret", BOXWRIGHT_SHARED: "/x", BOXWRIGHT_TESTS: "all" };
  expect(misspeltVariables(others, "BOXWRIGHT_", ["BOXWRIGHT_PAGE_TOKEN", "BOXWRIGHT_NATS"], true)).toEqual([
    "BOXWRIGHT_PAGETOKEN: got a variable that nobody reads. Did you mean BOXWRIGHT_PAGE_TOKEN?",
  ]);
});
