/**
 * Rate limits: token buckets in memory, of one process. `decide` is the rule and writes nothing; `Quotas` keeps the
 * buckets of many callers in a bounded table.
 */
export interface Limit {
  /** Requests a second, in the long run. */
  readonly rate: number;
  /** How many may come at once. */
  readonly burst: number;
}

export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export type Decision =
  | { readonly kind: "allow"; readonly bucket: Bucket }
  /** `retryAfter` in whole seconds, at least 1. */
  | { readonly kind: "deny"; readonly bucket: Bucket; readonly retryAfter: number };

/** What a bucket allows at `now` (milliseconds). `cost` may exceed the tokens left: then the next requests pay for it. */
export function decide(limit: Limit, bucket: Bucket | undefined, now: number, cost = 1): Decision {
  const before = bucket === undefined ? limit.burst : Math.min(limit.burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * limit.rate);
  if (before < 1) return { kind: "deny", bucket: { tokens: before, at: now }, retryAfter: Math.max(1, Math.ceil((1 - before) / limit.rate)) };
  return { kind: "allow", bucket: { tokens: before - cost, at: now } };
}

export class Quotas {
  readonly #limit: Limit;
  readonly #maxCallers: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: Limit, maxCallers = 20_000) {
    this.#limit = limit;
    this.#maxCallers = maxCallers;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes from the caller's bucket. 0: allowed. Else the seconds to wait. */
  take(caller: string, now: number, cost = 1): number {
    const decision = decide(this.#limit, this.#buckets.get(caller), now, cost);
    this.#put(caller, decision.bucket);
    return decision.kind === "allow" ? 0 : decision.retryAfter;
  }

  /** What `take` would answer, without taking. */
  wait(caller: string, now: number): number {
    const decision = decide(this.#limit, this.#buckets.get(caller), now);
    return decision.kind === "allow" ? 0 : decision.retryAfter;
  }

  /** Makes a request dearer after the fact, once it is known what it was. */
  charge(caller: string, now: number, cost: number): void {
    const bucket = this.#buckets.get(caller) ?? { tokens: this.#limit.burst, at: now };
    // No deeper than one burst: a caller who stops comes back within burst / rate seconds.
    this.#put(caller, { tokens: Math.max(-this.#limit.burst, bucket.tokens - cost), at: bucket.at });
  }

  #put(caller: string, bucket: Bucket): void {
    // A Map keeps the order of insertion: taken out and put back, the caller is the youngest, and the first is the one
    // that has been away longest. It is forgotten first, so memory is bounded and an active caller keeps its count.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    if (this.#buckets.size > this.#maxCallers) {
      const oldest = this.#buckets.keys().next();
      if (oldest.done !== true) this.#buckets.delete(oldest.value);
    }
  }
}

/**
 * The caller behind an address: an IPv4 address as it is; of IPv6 the /64, which is what one customer line has. An IPv4
 * address inside IPv6 is the IPv4 address. A port, which some proxies write behind the address, is no part of it: with it
 * every connection would be a caller of its own.
 */
export function callerOf(sent: string): string {
  // No address is longer. What is may come from a client, where fewer proxies stand in front than were declared.
  const given = sent.slice(0, 64);
  const address = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(given)?.[1] ?? /^\[([^\]]*)\](:\d+)?$/.exec(given)?.[1] ?? given;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%")[0]!.toLowerCase().split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  return (
    [...left, ...zeros, ...right]
      .slice(0, 4)
      .map((group) => group.replace(/^0+(?=.)/, ""))
      .join(":") + "::/64"
  );
}
