/** The pages of devices. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addDevices, listDevices } from "../../src/nouns/device.ts";
import { kinds, Person, startHub, type TestHub } from "../support/hub.ts";

for (const { kind, skip } of kinds) {
  describe.skipIf(skip)(`devices on ${kind}`, () => {
    let hub: TestHub;
    let admin: Person;
    let base: string;
    beforeAll(async () => {
      hub = await startHub({ kind });
      admin = new Person(hub.url);
      expect(await admin.signIn(hub.admin.email)).toBe(303);
      base = `/teams/${hub.team.id}`;
    });

    afterAll(() => hub.stop());

    it("add, rename and remove devices", async () => {
      const form = await admin.formOf(`${base}/devices`, `${base}/devices`);
      expect((await admin.post(`${base}/devices`, { ...form, name: "  west  " })).headers.get("location")).toBe(
        `${base}/devices`,
      );
      const west = (await listDevices(hub.storage.db, hub.team.id)).find((device) => device.name === "west")!;
      expect((await admin.post(`${base}/devices/${west.id}/rename`, { ...form, name: "far west" })).status).toBe(303);
      expect((await admin.get(`${base}/devices`)).html).toContain("far west");
      const wrong = await admin.post(`${base}/devices/${west.id}/rename`, { ...form, name: "" });
      expect(wrong.status).toBe(400);
      expect(wrong.html).toContain("got 0 characters, expected 1 to 100");
      expect((await admin.post(`${base}/devices`, { ...form, name: "x".repeat(101) })).status).toBe(400);
      expect((await admin.post(`${base}/devices/${west.id}/remove`, form)).status).toBe(303);
      expect((await admin.post(`${base}/devices/${west.id}/remove`, form)).status).toBe(404);
    });

    it("page long lists", async () => {
      const many = await hub.makeTeam("Many", []);
      await addDevices(
        hub.storage.db,
        Date.now(),
        many.team.id,
        1000,
        Array.from({ length: 230 }, (_, i) => ({ name: `device number ${i};` })),
      );
      const person = new Person(hub.url);
      await person.signIn(many.admin.email);
      const seen: string[] = [];
      for (let path: string | undefined = `/teams/${many.team.id}/devices`; path !== undefined;) {
        const { html }: { html: string } = await person.get(path);
        seen.push(...[...html.matchAll(/<strong>(device number \d+;)/g)].map((match) => match[1]!));
        path = /href="([^"]*\?after=[^"]*)"/.exec(html)?.[1];
      }
      expect(seen).toEqual(Array.from({ length: 230 }, (_, i) => `device number ${i};`));
    });
  });
}
