import { sleep } from "boxwright-service/testing/wait";
import { expect } from "vitest";
import { LIST, type TestHub } from "./hub.ts";

/** Milliseconds between the questions of the good client. Without a pause it would take a core from the attack. */
const PAUSE = 10;

/** Runs `attack`; meanwhile a good client asks again and again, and each of its answers must be right. */
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
      await sleep(PAUSE);
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
