/** Forms are read late, and only so much of them. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { password, Person, startHub, type TestHub } from "../support/hub.ts";

/** Bytes of a form. */
const MAX_FORM = 8192;

describe("forms", () => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub()));
  afterAll(() => hub.stop());

  /** Announces a form, sends none of it, and returns the answer. */
  const announce = (path: string, length: number, cookie = "x=y"): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(hub.running.port, "127.0.0.1", () =>
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nOrigin: ${hub.url}\r\nCookie: ${cookie}\r\n` +
            `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n`,
        ),
      );
      socket.setEncoding("utf8").on("error", reject);
      socket.once("data", (text: string) => {
        socket.destroy();
        resolve(text);
      });
    });

  it("are not read before their sender has a session", async () => {
    for (const path of ["/account", "/sign-out", `/teams/${hub.team.id}/keys`, "/no/such/page"]) {
      expect([path, await announce(path, 60_000)]).toEqual([
        path,
        expect.stringMatching(/^HTTP\/1\.1 303 .*location: \/sign-in/is),
      ]);
      const invented = await announce(path, 60_000, "__Host-hub_session=invented");
      expect([path, invented]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 303 .*location: \/sign-in/is)]);
    }
    expect(await announce("/link/invented", 60_000)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it("are at most 8 KiB", async () => {
    const person = new Person(hub.url);
    await person.signIn(hub.admin.email);
    const path = `/teams/${hub.team.id}/devices`;
    const form = await person.formOf(path, path);
    const fill = (size: number) => {
      const start = new URLSearchParams({ ...form, name: "filled", rest: "" }).toString();
      return { ...form, name: "filled", rest: "x".repeat(size - start.length) };
    };
    expect((await person.post(path, fill(MAX_FORM))).status).toBe(303);
    const over = await person.post(path, fill(MAX_FORM + 1));
    expect(over.status).toBe(413);
    expect(over.html).toContain("What you entered is too long. Shorten it.");
    const fields = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`a${i}`, ""]));
    expect((await person.post(path, { ...form, ...fields })).status).toBe(413);
    expect(
      (await new Person(hub.url).post("/sign-in", { email: hub.admin.email, password: "x".repeat(MAX_FORM) })).status,
    ).toBe(413);
  });

  it("hold the longest passwords and the longest email that an account may have", async () => {
    const email = `${"ü".repeat(100)}@${"ö".repeat(140)}.example.org`;
    await hub.makeUser(email, hub.team.id, "member");
    const person = new Person(hub.url);
    expect(await person.signIn(email)).toBe(303);
    const form = await person.formOf("/account", "/account");
    const long = String.fromCodePoint(...Array.from({ length: 200 }, (_, i) => 0x4e00 + i * 7));
    expect((await person.post("/account", { ...form, email, current: password, password: long })).status).toBe(200);
    const again = await person.formOf("/account", "/account");
    expect(
      (await person.post("/account", { ...again, email, current: long, password: long.replaceAll("\u4e00", "\u4e01") }))
        .status,
    ).toBe(200);
  });
});
