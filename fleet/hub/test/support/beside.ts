import { expect } from "vitest";
import { LIST, type TestHub } from "./hub.ts";

/** Runs `attack`; meanwhile a good client asks without pause, and each of its answers must be right. */
export async function beside<T>(hub: TestHub, attack: () => Promise<T>): Promise<T> {
  const good = await hub.makeTeam("Good", ["fine"]);
  let over = false;
  let answers = 0;
  const asking = (async () => {
    while (!over) {
      const { status, json } = await hub.query(LIST, good.key);
      expect(status).toBe(200);
      expect(json.data.team.devices.nodes).toMatchObject([{ name: "fine" }]);
      answers++;
    }
  })();
  try {
    return await attack();
  } finally {
    over = true;
    await asking;
    const last = await hub.query(LIST, good.key);
    expect(last.status).toBe(200);
    expect(answers).toBeGreaterThan(0);
  }
}
