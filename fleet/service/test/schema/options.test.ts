import { expect, test } from "vitest";
import { secret, text } from "boxwright-service/schema/json";
import { number, readOptions, texts } from "boxwright-service/schema/options";

const options = {
  port: { schema: number(0, 65535), fallback: 80, about: "" },
  names: { schema: texts(text("a name")), about: "" },
  token: { schema: secret("at least 4 letters", /^\w{4,}$/), about: "" },
};

test("values of environment and flags go before the file, and defaults come last", () => {
  const { values, problems } = readOptions(
    options,
    { port: 1, names: ["a"] },
    { port: { where: "HUB_PORT", value: "2" } },
  );
  expect(problems).toEqual([]);
  expect(values).toEqual({ port: 2, names: ["a"], token: undefined });
  expect(readOptions(options, {}, {}).values["port"]).toBe(80);
});

test("every problem is told at once, where it stands, and no secret is repeated", () => {
  const given = { token: { where: "HUB_TOKEN", value: "abc" } };
  const { problems } = readOptions(options, { port: "x", names: [1], prot: 3 }, given);
  expect(problems).toEqual([
    "prot: got an option that does not exist. Did you mean port?",
    'port: got "x", expected a whole number from 0 to 65535',
    "names: got 1, expected a name",
    "HUB_TOKEN: got a text of 3 characters, expected at least 4 letters",
  ]);
  const variableOf = (name: string): string => `HUB_${name.toUpperCase()}`;
  expect(readOptions(options, { HUB_PORT: 80 }, {}, variableOf).problems).toEqual([
    "HUB_PORT: got an option that does not exist; its name in a file is port",
  ]);
  expect(readOptions(options, [], {}).problems).toEqual(["config file: got a list of 0, expected a JSON object"]);
});
