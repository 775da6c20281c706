/** Model files on their page, by GraphQL and by the client: who uses each, how much there is, and removing. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createHubClient } from "../../client/index.ts";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { onDatabases } from "../support/hub.ts";
import { sha256Of } from "../support/pictures.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("model files", (kind) => {
  const site = useSignedInHub(kind);
  const send = async (text: string, name: string, length = text.length): Promise<string> => {
    const sha256 = sha256Of(Buffer.from(text));
    const headers = { authorization: `Bearer ${site.hub.key}`, "upload-length": String(length) };
    const { status } = await fetch(`${site.hub.url}/models/${sha256}?name=${name}`, {
      ...{ method: "PUT", headers, body: text },
    });
    expect(status).toBe(length === text.length ? 201 : 202);
    return sha256;
  };
  const onDisk = (sha256: string): boolean =>
    existsSync(join(site.hub.storage.filesFolder, site.hub.team.id, "models", sha256));

  it("are listed with who uses them, and removed when nobody does", async () => {
    const { hub, admin, base } = site;
    const client = createHubClient({ baseUrl: hub.url, apiKey: hub.key });
    expect((await admin.get(`${base}/models`)).html).toContain("No model files yet");
    const [used, unused, half] = [
      await send("used model", "used.onnx"),
      await send("old model", "old.onnx"),
      await send("half", "half.onnx", 1000),
    ];
    const { db } = hub.storage;
    const app = await createApp(db, { now: Date.now(), actor: "test", teamId: hub.team.id }, { name: "Gate <people>" });
    for (const labels of ["a", "b"]) {
      const model = { sha256: used, size: 10, name: "used.onnx" };
      const content = { config: null, options: { labels }, model, snaps: [] };
      await saveVersion(db, { now: Date.now(), actor: "test", teamId: hub.team.id }, app.id, {
        content,
        description: "",
      });
    }
    const [device] = await client.devices();
    await client.assignApp(app.id, 2, { deviceId: device!.id });

    const page = (await admin.get(`${base}/models`)).html;
    expect(page).toMatch(/3 model files, 1\.0 kB of 4\.3 GB/);
    const users = /Gate &lt;people&gt;<\/a> \(versions <a [^>]*\/versions\/2">2<\/a>, <a [^>]*>1<\/a>\), on 1 device/;
    expect(page).toMatch(users);
    expect(page).toMatch(/old\.onnx.*no version names it/s);
    expect(page).toContain("not there whole yet");
    expect(page).toContain(`data-upload="${base}/models"`);
    expect(page).not.toContain(`/models/${used}/remove`);
    expect(await client.models()).toMatchObject([
      { sha256: half, isComplete: false, size: 1000 },
      { sha256: unused, isComplete: true, appIdentifiers: [], deviceCount: 0 },
      { sha256: used, appIdentifiers: ["gate-people"], deviceCount: 1, name: "used.onnx" },
    ]);
    expect(await client.storage()).toEqual({
      ...{ modelBytes: 1019, modelBytesLimit: hub.config.teamModelBytes },
      ...{ snapBytes: 0, snapBytesLimit: hub.config.teamSnapBytes },
    });

    expect((await admin.get(`${base}/models?remove=${used}`)).html).not.toContain(`/models/${used}/remove`);
    const form = await admin.formOf(`${base}/models?remove=${unused}`, `${base}/models/${unused}/remove`);
    const refused = await admin.post(`${base}/models/${used}/remove`, form);
    expect([refused.status, refused.html]).toEqual([409, expect.stringContaining("Remove the application first")]);
    expect(onDisk(used)).toBe(true);
    expect((await admin.post(`${base}/models/${unused}/remove`, form)).status).toBe(303);
    expect((await admin.get(`${base}/models`)).html).toContain("2 model files");
    expect(onDisk(unused)).toBe(false);
    expect((await admin.post(`${base}/models/${unused}/remove`, form)).status).toBe(404);
    await client.removeModel(half);
    await expect(client.removeModel(used)).rejects.toThrow("that 2 versions name");
    await expect(client.removeModel("../x")).rejects.toThrow("expected 64 hexadecimal digits");
    // A restore on another machine leaves versions whose files are missing.
    await db.write((tx) => tx.all("DELETE FROM models WHERE sha256 = ?", [used]));
    const left = (await admin.get(`${base}/models`)).html;
    expect(left.slice(left.indexOf("Missing"))).toMatch(
      new RegExp(`used\\.onnx <code class="soft">${used.slice(0, 8)}.*10 bytes, for .*${users.source}`, "s"),
    );
    expect(left).toContain(`href="${base}/apps/${app.id}/edit?from=2"`);
    await send("used model", "used.onnx");
    expect((await admin.get(`${base}/models`)).html).not.toContain("Missing");
    // It may be sent again.
    await send("old model", "old.onnx");
  });

  it("of another team are neither listed nor removed", async () => {
    const { hub } = site;
    const sha256 = await send("theirs", "theirs.onnx");
    const other = await hub.makeTeam("Other", []);
    const client = createHubClient({ baseUrl: hub.url, apiKey: other.key });
    expect(await client.models()).toEqual([]);
    await expect(client.removeModel(sha256)).rejects.toThrow("expected one of the team");
    expect(onDisk(sha256)).toBe(true);
  });
});
