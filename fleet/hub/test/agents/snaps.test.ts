/** Snaps: limits first, then files; filters; deletion and retention; and what hostile devices try. */
import { existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FolderFiles } from "../../src/files/folder.ts";
import { addSnap } from "../../src/nouns/snap.ts";
import { SnapQuota } from "../../src/nouns/snap-quota.ts";
import { deleteOrphans, sweepSnaps } from "../../src/nouns/snap-deletion.ts";
import { adoptKey, Agent } from "../support/agent.ts";
import { startHub, type TestHub, onDatabases } from "../support/hub.ts";
import { png, sha256Of, webp } from "../support/pictures.ts";
import { BOX, postSnap, putFile, sendSnap, snapOf } from "../support/snaps.ts";

const DAY_MS = 86_400_000;
let shade = 0;
/** Returns a picture that no other test has. */
const picture = (): Buffer => png(16, 8, [++shade % 256, shade >> 8, 7]);

onDatabases("snaps", (kind) => {
  let hub: TestHub;
  let agent: Agent;
  beforeAll(async () => {
    const env = { HUB_SNAPS_PER_HOUR: "1000", HUB_SNAP_FILE_BYTES: "100000", HUB_TEAM_SNAP_BYTES: "1000000" };
    hub = await startHub({ kind, env });
  });
  afterAll(() => hub.stop());
  /** Names of the files of the team on the disk. */
  const onDisk = (): string[] => {
    const folder = join(hub.storage.filesFolder, hub.team.id, "snaps");
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  };
  const ask = async (text: string, variables: object = {}, key = hub.key): Promise<any> => {
    const { json } = await hub.query("", key, { body: JSON.stringify({ query: text, variables }) });
    if (json.errors !== undefined) throw new Error(JSON.stringify(json.errors));
    return json.data.team;
  };
  const names = async (filter: object): Promise<string[]> =>
    (
      await ask("query($f: EventSnapFilterInput) { team { snaps(filter: $f) { nodes { name } } } }", { f: filter })
    ).snaps.nodes
      .map(({ name }: { name: string }) => name)
      .sort();
  const remove = async (filter: object) =>
    (
      await ask(
        "mutation($f: EventSnapFilterInput!) { team { deleteSnapsByFilter(filter: $f) { status failedMessage deletedCount } } }",
        { f: filter },
      )
    ).deleteSnapsByFilter;

  it("come in two phases, are one snap when sent again, and are seen when all files are there", async () => {
    agent = await Agent.enrol(hub);
    const files = [picture(), picture()];
    const snap = snapOf(files);
    const posted = await postSnap(agent, snap);
    expect([posted.status, posted.json.missing]).toEqual([201, files.map(sha256Of)]);
    const again = await postSnap(agent, snap);
    expect(again.json).toEqual(posted.json);
    expect((await postSnap(agent, { ...snap, name: "other" })).json.errors[0].extensions.code).toBe("snap_conflict");
    const id = posted.json.snap_id as string;
    expect((await putFile(agent, id, files[0]!)).status).toBe(204);
    expect((await postSnap(agent, snap)).json.missing).toEqual([sha256Of(files[1]!)]);
    const query = `query { team { snap(snapId: "${id}") { name tags extras sourceDeviceId sourceAppIdentifier event files { id name classification contentType size url } } snapsTags snapsExtrasKeys snapsExtrasKeyValues(key: "gate") } }`;
    expect((await ask(query)).snap).toBe(null);
    expect((await putFile(agent, id, files[1]!)).status).toBe(204);
    expect((await putFile(agent, id, files[1]!)).status).toBe(204);
    const seen = await ask(query);
    expect(seen).toMatchObject({ snapsTags: ["night"], snapsExtrasKeys: ["gate"], snapsExtrasKeyValues: ["3"] });
    expect(seen.snap).toMatchObject({
      ...{ name: "person", tags: ["night"], extras: { gate: "3" }, sourceDeviceId: agent.id },
      ...{ sourceAppIdentifier: "gate", event: { data: { detections: [BOX] } } },
    });
    const [file] = seen.snap.files;
    const answer = await fetch(file.url, { headers: { authorization: `Bearer ${hub.key}` } });
    expect(Buffer.from(await answer.arrayBuffer()).equals(files[0]!)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...{ "content-type": "image/png", "x-content-type-options": "nosniff" },
      "content-security-policy": "default-src 'none'; sandbox",
    });
    expect((await ask(`query { team { eventFile(fileId: "${file.id}") { name } } }`)).eventFile.name).toBe(
      "frame 0.png",
    );
    // Another team's key sees nothing of it.
    const other = await hub.makeTeam("Other", []);
    expect((await fetch(file.url, { headers: { authorization: `Bearer ${other.key}` } })).status).toBe(404);
    expect((await ask(query, {}, other.key)).snap).toBe(null);
    expect((await fetch(file.url)).status).toBe(401);
    const theirs = await Agent.enrol(hub, await adoptKey(hub, {}, other.team.id));
    expect((await putFile(theirs, id, files[0]!)).status).toBe(404);
  });

  it("may have no detections: a device whose network the host decodes", async () => {
    const id = await sendSnap(agent, [picture()], { event: {} });
    expect((await ask(`query { team { snap(snapId: "${id}") { event } } }`)).snap.event).toEqual({});
  });

  it("are refused whole if a field is over its limit", async () => {
    const good = snapOf([picture()]);
    const cases: [object, string][] = [
      [{ name: "" }, "name"],
      [{ name: "x".repeat(57) }, "name"],
      [{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, "tags"],
      [{ extras: Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`k${i}`, ""])) }, "extras"],
      [{ extras: { ["k".repeat(41)]: "" } }, "extras"],
      [{ extras: { k: "v".repeat(101) } }, "extras.k"],
      [{ files: [] }, "files"],
      [{ files: Array.from({ length: 21 }, () => good.files[0]) }, "files"],
      [{ files: [{ ...good.files[0], content_type: "image/svg+xml" }] }, "files[0].content_type"],
      [{ files: [{ ...good.files[0], sha256: "../../../etc/passwd" }] }, "files[0].sha256"],
      [{ id: "../x" }, "id"],
      [{ created_at: "yesterday" }, "created_at"],
      [{ event: { id: "1", source: "x", type: "y", data: { detections: {} } } }, "event.data.detections"],
    ];
    for (const [part, field] of cases) {
      const { status, json } = await postSnap(agent, { ...good, ...part });
      expect([status, json.errors[0].message]).toEqual([400, expect.stringContaining(`: ${field}: got`)]);
    }
    const large = await postSnap(agent, { ...good, files: [{ ...good.files[0], size: 100_001 }] });
    expect([large.status, large.json.errors[0].extensions]).toEqual([413, { code: "too_large", limit: "file_bytes" }]);
  });

  it("take no bytes but those that were stated, and no picture bombs", async () => {
    const before = onDisk();
    const tryFile = async (bytes: Buffer, type = "image/png", sha256 = sha256Of(bytes)) => {
      const snap = snapOf([bytes]);
      const files = [{ ...snap.files[0]!, content_type: type, sha256 }];
      const { json } = await postSnap(agent, { ...snap, files });
      return putFile(agent, json.snap_id as string, bytes, sha256);
    };
    const bomb = png(1, 1, [0, 0, 0], { width: 60_000, height: 60_000 });
    const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`.padEnd(100));
    const html = Buffer.from("<!doctype html><script>alert(1)</script>".padEnd(100));
    for (const [bytes, type] of [
      [bomb, "image/png"],
      [webp(16_000, 16_000), "image/webp"],
      [svg, "image/png"],
      [html, "image/jpeg"],
      [picture(), "image/jpeg"],
      [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), "image/jpeg"],
      [Buffer.alloc(0), "image/png"],
    ] as const)
      expect([type, (await tryFile(bytes, type)).status]).toEqual([type, 415]);
    expect((await tryFile(webp(640, 480), "image/webp")).status).toBe(204);
    expect((await tryFile(picture(), "image/png", "a".repeat(64))).json.errors[0].extensions.code).toBe("wrong_hash");
    const snap = snapOf([picture()]);
    const { json } = await postSnap(agent, snap);
    const longer = Buffer.concat([picture(), Buffer.alloc(10)]);
    expect((await putFile(agent, json.snap_id as string, longer, snap.files[0]!.sha256)).status).toBe(413);
    expect((await putFile(agent, json.snap_id as string, picture())).status).toBe(404);
    expect(
      (await agent.ask(`/device/snaps/${json.snap_id}/files/..%2f..%2fx`, { method: "PUT", body: "x" })).status,
    ).toBe(404);
    expect(onDisk()).toEqual([...before, sha256Of(webp(640, 480))].sort());
  });

  it("are found by each documented filter, page by page", async () => {
    const team = await hub.makeTeam("Filters", []);
    const [a, b] = [await adoptKey(hub, {}, team.team.id), await adoptKey(hub, {}, team.team.id)];
    const [one, two] = [await Agent.enrol(hub, a), await Agent.enrol(hub, b)];
    const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    await sendSnap(one, [picture()], { name: "a", tags: ["x", "y"], extras: { k: "1" }, created_at: at(30) });
    await sendSnap(one, [picture()], {
      name: "b",
      tags: ["x"],
      extras: { k: "2" },
      application: "yard",
      created_at: at(20),
    });
    await sendSnap(two, [picture()], { name: "c", tags: [], extras: {}, created_at: at(10) });
    const found = async (filter: object) =>
      (
        await ask(
          "query($f: EventSnapFilterInput) { team { snaps(filter: $f) { nodes { name } } } }",
          { f: filter },
          team.key,
        )
      ).snaps.nodes
        .map(({ name }: { name: string }) => name)
        .join("");
    expect(await found({})).toBe("cba");
    expect(await found({ createdAt: { from: at(25), to: at(15) } })).toBe("b");
    expect(await found({ sourceDeviceIds: [two.id] })).toBe("c");
    expect(await found({ sourceAppIdentifiers: ["yard"] })).toBe("b");
    expect(await found({ names: ["a", "c"] })).toBe("ca");
    expect(await found({ tags: ["x"] })).toBe("ba");
    expect(await found({ tags: ["x", "y"] })).toBe("a");
    expect(await found({ extras: [{ key: "k" }] })).toBe("ba");
    expect(await found({ extras: [{ key: "k", value: "1" }] })).toBe("a");
    expect(await found({ fileClassifications: ["frame"] })).toBe("cba");
    expect(await found({ fileClassifications: ["other"] })).toBe("");
    expect(await found({ names: [] })).toBe("");
    for (const filter of [{ createdAt: { from: "2026-11-25" } }, { createdAt: { from: "2026-11-25T10:00:00" } }])
      await expect(found(filter)).rejects.toThrow("with its offset");
    const pages: string[] = [];
    for (let after: string | null = null; ;) {
      const { snaps } = await ask(
        "query($after: String) { team { snaps(first: 1, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } } } }",
        { after },
        team.key,
      );
      pages.push(...snaps.edges.map(({ node }: { node: { name: string } }) => node.name));
      if (snaps.pageInfo.hasNextPage !== true) break;
      after = snaps.pageInfo.endCursor as string;
    }
    expect(pages).toEqual(["c", "b", "a"]);
  });

  it("are deleted with their files, but not with those of another snap, and never by an empty filter", async () => {
    const shared = picture();
    const own = picture();
    await sendSnap(agent, [shared, own], { name: "first" });
    const second = await sendSnap(agent, [shared], { name: "second" });
    for (const filter of [{}, { names: null }, { createdAt: {} }, { extras: [] }])
      expect(await remove(filter)).toMatchObject({
        status: "FAILED",
        failedMessage: expect.stringContaining("empty"),
      });
    expect(await remove({ names: [] })).toMatchObject({ deletedCount: 0 });
    expect(await remove({ names: ["first"] })).toEqual({ status: "SUCCESS", failedMessage: null, deletedCount: 1 });
    expect(onDisk()).toContain(sha256Of(shared));
    expect(onDisk()).not.toContain(sha256Of(own));
    const byIds = "mutation($ids: [ID!]!) { team { deleteSnapsByIds(snapIds: $ids) { deletedCount } } }";
    const other = await hub.makeTeam("Thieves", []);
    expect((await ask(byIds, { ids: [second] }, other.key)).deleteSnapsByIds.deletedCount).toBe(0);
    expect((await ask(byIds, { ids: [second, "x"] })).deleteSnapsByIds.deletedCount).toBe(1);
    expect(onDisk()).not.toContain(sha256Of(shared));
  });

  it("are limited by the hour, each device for itself", async () => {
    const limited = await startHub({ kind, env: { HUB_SNAPS_PER_HOUR: "2", HUB_SNAP_BYTES_PER_HOUR: "1000" } });
    const [one, two] = [await Agent.enrol(limited), await Agent.enrol(limited)];
    await sendSnap(one, [picture()]);
    await sendSnap(one, [picture()]);
    const third = await postSnap(one, snapOf([picture()]));
    expect([third.status, third.json.errors[0].extensions.limit]).toEqual([429, "snaps_per_hour"]);
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(3000);
    await sendSnap(two, [picture()]);
    const big = await postSnap(two, snapOf([Buffer.alloc(990)]));
    expect([big.status, big.json.errors[0].extensions.limit]).toEqual([429, "bytes_per_hour"]);
    await limited.stop();
  });

  it("are asked for by a person, and the request ends with the snap", async () => {
    const request = `mutation { team { requestSnap(deviceId: "${agent.id}") { status } } }`;
    expect((await agent.beat()).json.snap_requested).toBe(false);
    expect((await ask(request)).requestSnap.status).toBe("SUCCESS");
    expect((await agent.beat()).json.snap_requested).toBe(true);
    await sendSnap(agent, [picture()]);
    expect((await agent.beat()).json.snap_requested).toBe(false);
    expect((await ask(`mutation { team { requestSnap(deviceId: "x") { status } } }`)).requestSnap.status).toBe(
      "FAILED",
    );
  });

  it("are deleted when they are old, unfinished, or too many bytes of the device with most", async () => {
    const team = await hub.makeTeam("Retention", []);
    const [busy, quiet] = [
      await Agent.enrol(hub, await adoptKey(hub, {}, team.team.id)),
      await Agent.enrol(hub, await adoptKey(hub, {}, team.team.id)),
    ];
    const { db } = hub.storage;
    const files = new FolderFiles(hub.storage.filesFolder);
    const left = async () =>
      (await db.all<{ name: string }>("SELECT name FROM snaps WHERE team_id = ? ORDER BY name", [team.team.id]))
        .map(({ name }) => name)
        .join("");
    const size = picture().length;
    for (const name of ["a", "b", "c"]) await sendSnap(busy, [picture()], { name });
    await sendSnap(quiet, [picture()], { name: "q" });
    await postSnap(busy, snapOf([picture()], { name: "u" }));
    const limits = { snapDays: 30, teamSnapBytes: 1e9 };
    await sweepSnaps(db, files, Date.now(), limits);
    expect(await left()).toBe("abcqu");
    await sweepSnaps(db, files, Date.now() + DAY_MS + 60_000, limits);
    expect(await left()).toBe("abcq");
    await sweepSnaps(db, files, Date.now(), { ...limits, teamSnapBytes: size * 2 + 10 });
    expect(await left()).toBe("cq");
    await sweepSnaps(db, files, Date.now() + 31 * DAY_MS, limits);
    expect(await left()).toBe("");
    expect(readdirSync(join(hub.storage.filesFolder, team.team.id, "snaps"))).toEqual([]);
  });

  it("make room as they are announced, and stay themselves", async () => {
    const { team } = await hub.makeTeam("Quota", []);
    const [busy, quiet] = [
      await Agent.enrol(hub, await adoptKey(hub, {}, team.id)),
      await Agent.enrol(hub, await adoptKey(hub, {}, team.id)),
    ];
    const { db } = hub.storage;
    const files = new FolderFiles(hub.storage.filesFolder);
    const quota = new SnapQuota();
    const limits = { ...hub.config, snapFileBytes: 1000, teamSnapBytes: 1000 };
    const names = async (): Promise<string> =>
      (await db.all<{ name: string }>("SELECT name FROM snaps WHERE team_id = ? ORDER BY name", [team.id]))
        .map(({ name }) => name)
        .join("");
    let id = 0;
    const add = async (agent: Agent, name: string, size: number, age = 0): Promise<string> => {
      const created_at = new Date(Date.now() - age).toISOString();
      const file = {
        name,
        size,
        sha256: sha256Of(Buffer.from(name)),
        content_type: "image/png" as const,
        classification: "frame",
      };
      const request = { ...snapOf([], { id: `quota-${++id}`, name, created_at }), files: [file] };
      const source = { teamId: team.id, deviceId: agent.id };
      const added = await addSnap(db, files, Date.now(), source, request, limits);
      if (added.kind !== "added") throw new Error(added.kind);
      await quota.admit({ db, files }, Date.now(), { ...source, ...added }, limits.teamSnapBytes);
      return names();
    };
    await add(quiet, "q", 200);
    for (const name of ["a", "b", "c"]) await add(busy, name, 250, 10_000 - id * 1000);
    expect(await names()).toBe("abcq");
    // The oldest of the busy device goes, and not the one that came just now, though it is older.
    expect(await add(busy, "d", 250, 60_000)).toBe("bcdq");
    expect(await add(quiet, "r", 200)).toBe("bcqr");
    // A thousand bytes alone have room, and all others go.
    expect(await add(quiet, "x", 1000)).toBe("x");
    // The hub itself does so when a device announces one, before its bytes come.
    for (let i = 0; i < 12; i++) {
      const [file] = snapOf([picture()]).files;
      const announced = await postSnap(busy, { ...snapOf([]), files: [{ ...file, size: 99_000 }] });
      expect(announced.status).toBe(201);
    }
    const sql = "SELECT CAST(sum(bytes) AS BIGINT) AS bytes FROM snaps WHERE team_id = ?";
    const [sum] = await db.all<{ bytes: number }>(sql, [team.id]);
    expect(sum!.bytes).toBeLessThanOrEqual(1_000_000);
    expect(sum!.bytes).toBeGreaterThan(800_000);
  });

  it("are counted anew after a minute, and after a clock was set: others add and delete them too", async () => {
    const { team } = await hub.makeTeam("Counted", []);
    const agent = await Agent.enrol(hub, await adoptKey(hub, {}, team.id));
    const { db } = hub.storage;
    const files = new FolderFiles(hub.storage.filesFolder);
    const limits = { ...hub.config, snapFileBytes: 1000, teamSnapBytes: 1000 };
    const start = Date.now();
    const quota = new SnapQuota();
    let id = 0;
    /** Adds a snap, here or as another process does. Returns how many there are. */
    const add = async (size: number, now: number, isElsewhere = false): Promise<number> => {
      const sha256 = sha256Of(Buffer.from(`counted ${++id}`));
      const file = { name: "f", size, sha256, content_type: "image/png" as const, classification: "frame" };
      const created_at = new Date(start - 1e6 + id * 1000).toISOString();
      const request = { ...snapOf([], { id: `counted-${id}`, name: "n", created_at }), files: [file] };
      const source = { teamId: team.id, deviceId: agent.id };
      const added = await addSnap(db, files, start, source, request, limits);
      if (added.kind !== "added") throw new Error(added.kind);
      if (!isElsewhere) await quota.admit({ db, files }, now, { ...source, ...added }, limits.teamSnapBytes);
      return (await db.all("SELECT id FROM snaps WHERE team_id = ?", [team.id])).length;
    };
    expect(await add(400, start)).toBe(1);
    expect(await add(700, start, true)).toBe(2);
    // The snap of 700 bytes is seen here once the count is a minute away, on either side. Then the first one goes.
    const back = start - 60_000;
    expect(await add(100, back)).toBe(2);
    expect(await add(100, back)).toBe(3);
    expect(await add(200, back, true)).toBe(4);
    expect(await add(50, back + 59_999)).toBe(5);
    expect(await add(50, back + 60_000)).toBe(5);
  });

  it("leave no file that no row names, and lose none that a row names", async () => {
    const kept = picture();
    await sendSnap(agent, [kept]);
    const folder = join(hub.storage.filesFolder, hub.team.id, "snaps");
    const orphan = "b".repeat(64);
    for (const name of [orphan, `${orphan}.part`, `${sha256Of(kept)}.part`]) writeFileSync(join(folder, name), "x");
    const files = new FolderFiles(hub.storage.filesFolder);
    const { db } = hub.storage;
    await deleteOrphans(db, files, Date.now());
    expect(onDisk()).toContain(orphan);
    const old = new Date(Date.now() - 2 * DAY_MS);
    for (const name of onDisk()) utimesSync(join(folder, name), old, old);
    await deleteOrphans(db, files, Date.now());
    const known = await db.all<{ sha256: string }>("SELECT DISTINCT sha256 FROM snap_files WHERE team_id = ?", [
      hub.team.id,
    ]);
    expect(onDisk()).toContain(sha256Of(kept));
    const named = new Set(known.map(({ sha256 }) => sha256));
    expect(onDisk().filter((name) => !named.has(name))).toEqual([]);
  });

  it("of another team are never found by a filter", async () => {
    expect((await names({})).length).toBeGreaterThan(0);
    const other = await hub.makeTeam("Nobody", []);
    const { snaps } = await ask("query { team { snaps { nodes { id } } } }", {}, other.key);
    expect(snaps.nodes).toEqual([]);
  });
});
