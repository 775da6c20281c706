/** Two hubs in one process share nothing: each has its own interval of heartbeats. */
import { expect, it } from "vitest";
import { Agent } from "../support/agent.ts";
import { startHub, type TestHub } from "../support/hub.ts";

it("each judges its devices by the interval that it told them", async () => {
  const start = (seconds: string): Promise<TestHub> =>
    startHub({ isClockStopped: true, env: { HUB_HEARTBEAT_SECONDS: seconds } });
  const hubs = [await start("10"), await start("60")];
  const told = [];
  for (const hub of hubs) {
    const agent = await Agent.enrol(hub);
    told.push((await agent.beat()).json.interval_seconds);
    await hub.running.app.heartbeats.flush(hub.storage.db);
  }
  expect(told).toEqual([10, 60]);
  for (const hub of hubs) hub.clock.offset = 40_000;
  const online = async (hub: TestHub): Promise<unknown[]> => {
    const { json } = await hub.query("{ team { devices(filter: { status: ONLINE }) { nodes { status } } } }");
    return json.data.team.devices.nodes;
  };
  expect([await online(hubs[0]!), await online(hubs[1]!)]).toEqual([[], [{ status: "ONLINE" }]]);
  for (const hub of hubs) await hub.stop();
});
