/** Password checks: one at a time, few waiting. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Passwords } from "../../src/auth/derive.ts";
import { Person, startHub } from "../support/hub.ts";

const derivations = vi.hoisted(() => ({ running: 0, most: 0, all: 0 }));

vi.mock("node:crypto", async (original) => {
  const real = await original<typeof import("node:crypto")>();
  type Callback = Parameters<typeof real.scrypt>[4];
  const scrypt = (...[password, salt, size, options, done]: Parameters<typeof real.scrypt>): void => {
    derivations.all++;
    derivations.most = Math.max(derivations.most, ++derivations.running);
    const counted: Callback = (error, key) => {
      derivations.running--;
      done(error, key);
    };
    real.scrypt(password, salt, size, options, counted);
  };
  return { ...real, scrypt };
});

beforeEach(() => void Object.assign(derivations, { running: 0, most: 0, all: 0 }));

describe("password checks", () => {
  it("run one at a time, in the order they came", async () => {
    const passwords = new Passwords(5);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map(async (n) => (await passwords.hash(`a long password ${n}`), order.push(n))));
    expect(order).toEqual([1, 2, 3]);
    expect(derivations).toEqual({ running: 0, most: 1, all: 3 });
    expect([passwords.derivations, passwords.full]).toEqual([3, false]);
  });

  it("are turned away before they cost anything while the queue is full", async () => {
    const passwords = new Passwords(2);
    const asked = Array.from({ length: 5 }, () => passwords.verify("wrong", undefined));
    const results = await Promise.allSettled(asked);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    expect(derivations).toEqual({ running: 0, most: 1, all: 3 });
    expect(await passwords.verify("wrong", undefined)).toBe(false);
  });

  it("answer 503 to the sign-ins that are turned away", async () => {
    const passwords = new Passwords(2);
    const hub = await startHub({ passwords });
    const before = passwords.derivations;
    const person = new Person(hub.url);
    const forms = Array.from({ length: 12 }, (_, i) => ({ email: `u${i}@example.org`, password: "wrong" }));
    const statuses = (await Promise.all(forms.map((form) => person.post("/sign-in", form)))).map(
      ({ status }) => status,
    );
    const checked = passwords.derivations - before;
    expect(statuses.filter((status) => status === 401)).toHaveLength(checked);
    expect(statuses.filter((status) => status === 503)).toHaveLength(12 - checked);
    expect(checked).toBeLessThan(12);
    await hub.stop();
  });
});
