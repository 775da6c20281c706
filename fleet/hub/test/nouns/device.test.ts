/** Devices, on both databases. */
import { expect, it } from "vitest";
import { UserError } from "../../src/core/errors.ts";
import { addDevices, listDevices, removeDevice, renameDevice } from "../../src/nouns/device.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { NOW, onEmptyDatabases } from "../support/hub.ts";

onEmptyDatabases("devices", (db, storage) => {
  it("keeps the limit of devices when many are added at once", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const hubs = [db(), storage().again()];
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => addDevices(hubs[i % 2]!, NOW, team.id, 7, [{ name: `d${i}` }])),
    );
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(7);
    expect(await listDevices(db(), team.id)).toHaveLength(7);
  });

  it("lists devices in one order, in pages too, and byte by byte", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const ids = ["b", "B", "a", "_x".slice(1), "1", "Z9", "z.1", "a-1", "a1"];
    await addDevices(
      db(),
      NOW,
      team.id,
      100,
      ids.map((id) => ({ id, name: `name of ${id}` })),
    );
    const all = (await listDevices(db(), team.id)).map((device) => device.id);
    expect(all).toEqual([...ids].sort());
    const paged: string[] = [];
    for (let after = ""; ;) {
      const page = await listDevices(db(), team.id, after, 2);
      paged.push(...page.map((device) => device.id));
      if (page.length < 2) break;
      after = page.at(-1)!.id;
    }
    expect(paged).toEqual(all);
  });

  it("adds, renames and removes devices of the team and of no other", async () => {
    const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
    const [device] = await addDevices(db(), NOW, a.id, 10, [{ name: "  cam  " }]);
    expect(device?.name).toBe("cam");
    await expect(renameDevice(db(), { now: NOW, actor: "test", teamId: b.id }, device!.id, "stolen")).rejects.toThrow(
      UserError,
    );
    await expect(removeDevice(db(), { now: NOW, actor: "test", teamId: b.id }, device!.id)).rejects.toThrow(UserError);
    await renameDevice(db(), { now: NOW, actor: "test", teamId: a.id }, device!.id, "cam 2");
    expect(await listDevices(db(), a.id)).toEqual([{ id: device!.id, name: "cam 2" }]);
    await expect(addDevices(db(), NOW, a.id, 10, [{ name: "new" }, { id: device!.id, name: "again" }])).rejects.toThrow(
      "expected one that the team does not have yet",
    );
    expect(await listDevices(db(), a.id)).toHaveLength(1);
    await addDevices(db(), NOW, b.id, 10, [{ id: device!.id, name: "same id, other team" }]);
    await removeDevice(db(), { now: NOW, actor: "test", teamId: a.id }, device!.id);
    expect(await listDevices(db(), b.id)).toHaveLength(1);
  });
});
