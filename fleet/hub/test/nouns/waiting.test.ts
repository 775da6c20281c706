/** Waiting requests of devices: who is woken, and how many between two turns of the event loop. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { assign } from "../../src/nouns/assignment.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { Desired } from "../../src/nouns/waiting.ts";
import { NOW, openTestDatabase, type TestDatabase } from "../support/hub.ts";

const DEVICES = 300;
const LONG = 1_000_000;

describe("devices that wait for a version", () => {
  let storage: TestDatabase;
  let desired: Desired;
  let teamId: string;
  let appId: string;
  let ids: string[];
  const errors: unknown[] = [];
  beforeEach(async () => {
    storage = await openTestDatabase("sqlite");
    const { db } = storage;
    desired = new Desired({ db, onError: (error) => errors.push(error) });
    teamId = (await addTeam(db, NOW, "test", "A")).id;
    const list = Array.from({ length: DEVICES }, (_, i) => ({ name: `Device ${i}` }));
    ids = (await addDevices(db, NOW, teamId, DEVICES, list)).map(({ id }) => id);
    appId = (await createApp(db, { now: NOW, actor: "test", teamId }, { name: "Gate" })).id;
    const content = { config: null, options: {}, model: null, snaps: [] };
    await saveVersion(db, { now: NOW, actor: "test", teamId }, appId, { content, description: "" });
  });
  afterEach(async () => {
    desired.stop();
    await storage.remove();
    expect(errors).toEqual([]);
  });

  const give = (id: string) =>
    assign(storage.db, { now: NOW, actor: "test", teamId }, { target: { kind: "device", id }, appId, version: 1 });
  const wait = (id: string, etag: string | null = null, onHangUp: (work: () => void) => void = () => undefined) =>
    desired.waitForOther(teamId, id, etag, { milliseconds: LONG, onHangUp });
  const allWait = async (count: number): Promise<void> => {
    while (desired.waiting < count) await new Promise(setImmediate);
  };

  it("are woken some at a time, so that other requests get their turn", async () => {
    let turn = 0;
    let isOver = false;
    const turns: number[] = [];
    const next = (): void => {
      turn++;
      if (!isOver) setImmediate(next);
    };
    const all = ids.map((id) => wait(id).then(() => turns.push(turn)));
    await allWait(DEVICES);
    for (const id of ids) await give(id);
    next();
    desired.wake(teamId);
    await Promise.all(all);
    isOver = true;
    const perTurn = new Map<number, number>();
    for (const one of turns) perTurn.set(one, (perTurn.get(one) ?? 0) + 1);
    expect(turns).toHaveLength(DEVICES);
    expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(40);
  });

  it("wait on if their own version is the same", async () => {
    const [changed, other] = [ids[0]!, ids[1]!];
    let woken = 0;
    const first = wait(changed);
    let hangUp = (): void => undefined;
    const second = wait(other, null, (work) => (hangUp = work)).then(() => woken++);
    await allWait(2);
    await give(changed);
    desired.wake(teamId);
    expect((await first)?.identifier).toBe("gate");
    expect([desired.waiting, woken]).toEqual([1, 0]);
    hangUp();
    await second;
    expect(desired.waiting).toBe(0);
  });

  it("get what changed while they looked", async () => {
    await desired.version(teamId, ids[0]!);
    await give(ids[0]!);
    desired.wake(teamId);
    const version = await wait(ids[0]!);
    expect(version?.number).toBe(1);
    // The device waits for a change of the version that it has now.
    const again = wait(ids[0]!, version!.etag);
    await allWait(1);
    desired.stop();
    expect((await again)?.etag).toBe(version!.etag);
  });
});
