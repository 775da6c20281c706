import { expect, it } from "vitest";
import { runEnrol } from "../../src/cli/enrol-command.ts";

it("asks for a settings file or a hub if it got none", async () => {
  await expect(runEnrol([])).rejects.toThrow("enrol: got no SETTINGS.json and no --hub, expected one of them");
});
