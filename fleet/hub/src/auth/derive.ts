/**
 * Passwords: scrypt, N = 2^15, r = 8, p = 3 (33 MB and about a third of a second each).
 *
 * Every attempt to sign in costs the hub one derivation. So one derivation runs at a time, 16 wait, and the hub refuses
 * others at no cost. scrypt runs on a thread of Node's pool, so that the event loop can answer other requests.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { UserError } from "../core/errors.ts";

const N = 2 ** 15;
const R = 8;
const P = 3;
const SIZE = 32;
const MAX_MEMORY = 64 * 2 ** 20;
const MAX_WAITING = 16;

function derive(password: string, salt: Buffer, n: number, r: number, p: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, SIZE, { N: n, r, p, maxmem: MAX_MEMORY }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

const encode = (n: number, salt: Buffer, key: Buffer): string =>
  `scrypt$${n}$${R}$${P}$${salt.toString("base64url")}$${key.toString("base64url")}`;

function tooBusy(): UserError {
  const shown = "Too many people are signing in at the moment. Try again in some seconds.";
  return new UserError("too many sign-ins at the moment; try again in some seconds", 503, shown);
}

export class Passwords {
  readonly #maxWaiting: number;
  readonly #n: number;
  /** Settles when every derivation that was requested so far has ended. */
  #last: Promise<unknown> = Promise.resolve();
  /** Derivations that run or wait. */
  #open = 0;
  /**
   * Number of accepted derivations. Tests count the derivations of a sign-in, since timing them would be unreliable.
   */
  derivations = 0;
  /** Hash that stands for the hash of an unknown user, so that the answer takes as long as for a known user. */
  readonly #decoy: string;

  /** @param n cost of scrypt; tests of other code use a lower cost */
  constructor(maxWaiting = MAX_WAITING, n = N) {
    this.#maxWaiting = maxWaiting;
    this.#n = n;
    this.#decoy = encode(n, randomBytes(16), randomBytes(SIZE));
  }

  /** True if the next derivation for an unknown browser would be refused. */
  get full(): boolean {
    return this.#isFull(false);
  }

  /** True if a derivation would be refused. Twice as many derivations may wait for known browsers. */
  #isFull(isKnown: boolean): boolean {
    return this.#open > this.#maxWaiting * (isKnown ? 2 : 1);
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    return encode(this.#n, salt, await this.#inTurn(() => derive(password, salt, this.#n, R, P)));
  }

  /** Checks a password. For an unknown user, `stored` is undefined, and the check takes as long. */
  async verify(password: string, stored: string | undefined, isKnown = false): Promise<boolean> {
    // People who sign in by a provider have no password.
    const hash = stored?.startsWith("none$") === true ? undefined : stored;
    const [scheme, n, r, p, salt, key] = (hash ?? this.#decoy).split("$");
    if (scheme !== "scrypt" || salt === undefined || key === undefined)
      throw new Error(`got a password hash of scheme ${JSON.stringify(scheme)}, expected scrypt`);
    const expected = Buffer.from(key, "base64url");
    const got = await this.#inTurn(
      () => derive(password, Buffer.from(salt, "base64url"), Number(n), Number(r), Number(p)),
      isKnown,
    );
    return timingSafeEqual(got, expected) && hash !== undefined;
  }

  async #inTurn(work: () => Promise<Buffer>, isKnown = false): Promise<Buffer> {
    if (this.#isFull(isKnown)) throw tooBusy();
    this.#open++;
    this.derivations++;
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn.finally(() => this.#open--);
  }
}
