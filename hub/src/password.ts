/**
 * Passwords: scrypt, N = 2^15, r = 8, p = 3 (33 MB and about a third of a second each).
 *
 * That price is what an attacker pays, and also what a flood of sign-ins could make the hub pay. So at most `slots` run
 * at once, a short queue waits, and the others are turned away before they cost anything. And a slot rests `rest` times
 * as long as it worked before it takes the next: a third of one core is the most that sign-ins get, however many come. A
 * low priority alone is not enough, for two threads of one core share it whatever their priorities are.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { Worker } from "node:worker_threads";
import { UserError } from "./errors.ts";

const N = 2 ** 15;
const R = 8;
const P = 3;
const SIZE = 32;
const MAX_MEMORY = 64 * 2 ** 20;

/**
 * Deriving happens on a thread of its own with a lower priority, so that on a machine without a core to spare the
 * answers to others go first. (On Linux a priority belongs to the thread that sets it; elsewhere to the process, where it
 * is left alone.) Not the lowest: beside four busy programs of others on two cores one password then took 49 seconds, with
 * this one it takes 3, and a good client beside a flood of sign-ins waits no longer.
 */
const THREAD = `
const { parentPort } = require("node:worker_threads");
const { scryptSync } = require("node:crypto");
const os = require("node:os");
if (process.platform === "linux") try { os.setPriority(5); } catch {}
parentPort.on("message", ({ n, password, salt, size, options }) => {
  try { parentPort.postMessage({ n, key: scryptSync(password, salt, size, options) }); }
  catch (error) { parentPort.postMessage({ n, problem: String(error) }); }
});
`;

interface Pending {
  readonly resolve: (key: Buffer) => void;
  readonly reject: (error: Error) => void;
}

let thread: Worker | undefined;
let count = 0;
const pending = new Map<number, Pending>();

function startThread(): Worker {
  const worker = new Worker(THREAD, { eval: true });
  worker.unref();
  worker.on("message", ({ n, key, problem }: { n: number; key?: Uint8Array; problem?: string }) => {
    const waiting = pending.get(n);
    pending.delete(n);
    if (pending.size === 0) worker.unref();
    if (key === undefined) waiting?.reject(new Error(problem ?? "got no key from the thread"));
    else waiting?.resolve(Buffer.from(key));
  });
  const ended = (error: Error): void => {
    if (thread === worker) thread = undefined;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  worker.on("error", ended);
  worker.on("exit", () => ended(new Error("the thread that derives passwords ended")));
  return worker;
}

function derive(password: string, salt: Buffer, n: number, r: number, p: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    thread ??= startThread();
    // It keeps the process alive only while somebody waits for it.
    thread.ref();
    pending.set(++count, { resolve, reject });
    thread.postMessage({
      n: count,
      password: password.normalize("NFKC"),
      salt: Uint8Array.from(salt),
      size: SIZE,
      options: { N: n, r, p, maxmem: MAX_MEMORY },
    });
  });
}

export class Passwords {
  readonly #slots: number;
  readonly #queueLimit: number;
  readonly #rest: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  /** How many derivations were started, for tests: the work behind a sign-in is counted, not timed. */
  derivations = 0;
  /** Compared against when there is no such user, so that the answer costs the same. */
  #decoy: string | undefined;

  constructor(options: { slots?: number; queue?: number; rest?: number } = {}) {
    this.#slots = options.slots ?? 1;
    this.#queueLimit = options.queue ?? 16;
    this.#rest = options.rest ?? 2;
  }

  /** Starts the thread, so that the first sign-in does not wait for it and no answer waits beside it. */
  warm(): void {
    thread ??= startThread();
  }

  /** Would the next one be turned away? */
  get full(): boolean {
    return this.#running >= this.#slots && this.#waiting.length >= this.#queueLimit;
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const key = await this.#limited(() => derive(password, salt, N, R, P));
    return `scrypt$${N}$${R}$${P}$${salt.toString("base64url")}$${key.toString("base64url")}`;
  }

  /** `stored` undefined: no such user. The work is the same. */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    this.#decoy ??= `scrypt$${N}$${R}$${P}$${randomBytes(16).toString("base64url")}$${randomBytes(SIZE).toString("base64url")}`;
    const [scheme, n, r, p, salt, key] = (stored ?? this.#decoy).split("$");
    if (scheme !== "scrypt" || salt === undefined || key === undefined)
      throw new Error(`got a password hash of scheme ${JSON.stringify(scheme)}, expected scrypt`);
    const expected = Buffer.from(key, "base64url");
    const got = await this.#limited(() => derive(password, Buffer.from(salt, "base64url"), Number(n), Number(r), Number(p)));
    return timingSafeEqual(got, expected) && stored !== undefined;
  }

  async #limited<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#slots) {
      if (this.#waiting.length >= this.#queueLimit) throw new UserError("too many sign-ins at the moment; try again in some seconds", 503);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running++;
    }
    this.derivations++;
    const start = performance.now();
    try {
      return await work();
    } finally {
      // Unreferenced: a command that has its answer does not stay for the rest.
      setTimeout(() => this.#handOver(), (performance.now() - start) * this.#rest).unref();
    }
  }

  /** A slot is handed over, not given back, so nobody overtakes the queue. */
  #handOver(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next();
  }
}
