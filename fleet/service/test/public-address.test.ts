/** Addresses that a service may send to although a user typed them. */
import { lookup } from "node:dns";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Message } from "../src/delivery.ts";
import { isPublic, lookUpPublic, refuseInside } from "../src/public-address.ts";
import { postMessage } from "../src/webhook.ts";

const INSIDE = [
  ...["127.0.0.1", "10.1.2.3", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.100.100.200", "0.0.0.0"],
  ...["224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1"],
  ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "2001:db8::1", "no address"],
];

describe("addresses", () => {
  it.each(INSIDE)("%s is not public", (address) => expect(isPublic(address)).toBe(false));
  it.each(["1.1.1.1", "172.32.0.1", "2606:4700:4700::1111"])("%s is", (address) =>
    expect(isPublic(address)).toBe(true),
  );

  it("of a URL are judged as Node's URL writes them", () => {
    for (const url of ["http://2130706433/", "http://0x7f.1/", "http://[::ffff:127.0.0.1]/", "https://[::1]:8443/"])
      expect(() => refuseInside(new URL(url).hostname)).toThrow("is no public address");
    expect(() => refuseInside("hub.example.org")).not.toThrow();
  });

  it("that a name resolves to are judged, also for those who ask for all", async () => {
    expect((await promisify(lookup)("localhost")).address).toMatch(/^(127\.|::1)/);
    for (const all of [true, false])
      await expect(
        new Promise((resolve, reject) =>
          lookUpPublic("localhost", { all }, (error, address) => (error ? reject(error) : resolve(address))),
        ),
      ).rejects.toThrow("is no public address");
  });
});

it("a message is not posted to an address inside, by name or by number", async () => {
  const message: Message = { id: "msg_1", body: "{}" };
  const options = { now: Date.now, signal: new AbortController().signal, patience: 5000, lookup: lookUpPublic };
  for (const url of ["http://localhost:9/", "http://127.0.0.1:9/", "http://[::1]:9/"])
    expect(await postMessage({ url, key: Buffer.alloc(32) }, message, options)).toEqual({
      reason: expect.stringContaining("is no public address"),
      after: null,
    });
});
