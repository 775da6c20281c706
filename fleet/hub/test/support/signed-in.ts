/** A hub for the tests of one group of pages, and its administrator, signed in. */
import { afterAll, beforeAll, expect } from "vitest";
import { Person, placeOf, startHub, type Kind, type TestHub } from "./hub.ts";

export interface SignedInHub {
  readonly hub: TestHub;
  readonly admin: Person;
  /** Path of the team's pages. */
  readonly base: string;
  /** Follows a redirect as the administrator. Returns where it led, and what the page says happened. */
  follow(answer: { status: number; headers: Headers }): Promise<[place: string, said: string | undefined]>;
}

export function useSignedInHub(kind: Kind): SignedInHub {
  let hub: TestHub;
  let admin: Person;
  beforeAll(async () => {
    hub = await startHub({ kind });
    admin = new Person(hub.url);
    expect(await admin.signIn(hub.admin.email)).toBe(303);
  });
  afterAll(() => hub.stop());
  return {
    get hub() {
      return hub;
    },
    get admin() {
      return admin;
    },
    get base() {
      return `/teams/${hub.team.id}`;
    },
    async follow(answer) {
      expect(answer.status).toBe(303);
      const { html } = await admin.get(answer.headers.get("location")!);
      return [placeOf(answer), /role="status"><span>(.*?)<\/span>/.exec(html)?.[1]];
    },
  };
}
