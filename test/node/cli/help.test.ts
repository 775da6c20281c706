import { expect, test } from "vitest";
import { helpText } from "../../../src/node/cli/help.ts";
import { COMMAND_NAMES, optionsOf } from "../../../src/node/cli/options.ts";
import { boxwright } from "../../support/cli.ts";

test("--help, -h and help print the overview, or the help of a command", async () => {
  for (const argv of [["--help"], ["-h"], ["help"]])
    expect(await boxwright(...argv)).toMatchObject({ code: 0, out: helpText(), err: "" });
  for (const command of COMMAND_NAMES) {
    expect(helpText()).toContain(`\n  ${command} `);
    expect(await boxwright(command, "--help")).toMatchObject({ code: 0, out: helpText(command), err: "" });
    expect(await boxwright("help", command)).toMatchObject({ code: 0, out: helpText(command), err: "" });
    expect(await boxwright(command, "--bogus", "-h")).toMatchObject({ code: 2 });
  }
  expect((await boxwright("toString")).err).toContain("\nTry: boxwright --help\n");
});

test("the help of a command lists its options, once each, with what they take", () => {
  for (const command of COMMAND_NAMES) {
    const listed = [...helpText(command).matchAll(/^ {2}--([a-z-]+)( \S+)?/gm)];
    expect(listed.map(([, name]) => name).sort()).toEqual(Object.keys(optionsOf(command)).sort());
    for (const [, name, value] of listed) expect(value?.trim()).toBe(optionsOf(command)[name].value);
  }
});

test("descriptions of options stand in one column, in lines of at most 120 characters", () => {
  for (const command of COMMAND_NAMES) {
    const lines = helpText(command).split("\n");
    const first = lines.findIndex((line) => line.startsWith("  --"));
    const end = lines.findIndex((line) => line.startsWith("Tensor files:"));
    const options = lines.slice(first, end).filter((line) => line.startsWith("  "));
    for (const line of options) expect(line.length).toBeLessThanOrEqual(120);
    const unwrapped = helpText(command).replace(/\n {27}/g, " ");
    for (const { help } of Object.values(optionsOf(command))) expect(unwrapped).toContain(` ${help}\n`);
    // A line holds a name alone, a name and text from column 27 on, or text from column 27 on.
    for (const line of options) expect(line).toMatch(/^( {2}--\S+( \S+)?$|( {2}--.{23}| {27})\S)/);
  }
  expect(helpText("inspect")).not.toContain("--engine");
});

test("--version prints the version of the package", async () => {
  expect(await boxwright("--version")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
  });
});
