/**
 * Rate limits by token buckets in the memory of one process. `decide` is the rule, without side effects. `Buckets`
 * keeps the buckets of many callers in a bounded table.
 */
export interface Limit {
  /** Requests per second on average. */
  readonly rate: number;
  /** Requests that may come at once. */
  readonly burst: number;
}

export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export type Decision =
  | { readonly kind: "allow"; readonly bucket: Bucket }
  /** `retryAfter` is in whole seconds, at least 1. */
  | { readonly kind: "deny"; readonly bucket: Bucket; readonly retryAfter: number };

/**
 * Decides whether a bucket allows a request at `now` (milliseconds). If `cost` exceeds the remaining tokens, later
 * requests pay the rest.
 */
export function decide(limit: Limit, bucket: Bucket | undefined, now: number, cost = 1): Decision {
  const before =
    bucket === undefined
      ? limit.burst
      : Math.min(limit.burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * limit.rate);
  if (before < 1)
    return {
      kind: "deny",
      bucket: { tokens: before, at: now },
      retryAfter: Math.max(1, Math.ceil((1 - before) / limit.rate)),
    };
  return { kind: "allow", bucket: { tokens: before - cost, at: now } };
}

export class Buckets {
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

  /** Takes tokens from the caller's bucket. Returns 0 if allowed, else the seconds to wait. */
  take(caller: string, now: number, cost = 1): number {
    const decision = decide(this.#limit, this.#buckets.get(caller), now, cost);
    this.#put(caller, decision.bucket);
    return decision.kind === "allow" ? 0 : decision.retryAfter;
  }

  /** Returns the same as `take`, without taking tokens. */
  wait(caller: string, now: number): number {
    const decision = decide(this.#limit, this.#buckets.get(caller), now);
    return decision.kind === "allow" ? 0 : decision.retryAfter;
  }

  /** Charges the cost of a request that was already allowed. */
  charge(caller: string, now: number, cost: number): void {
    const bucket = this.#buckets.get(caller) ?? { tokens: this.#limit.burst, at: now };
    // Limit the debt to one burst, so that a caller who stops is allowed again within (burst + 1) / rate seconds.
    this.#put(caller, { tokens: Math.max(-this.#limit.burst, bucket.tokens - cost), at: bucket.at });
  }

  #put(caller: string, bucket: Bucket): void {
    // Insert the caller again. A Map keeps the order of insertion, so its first entry is the caller who has been
    // inactive for longest. Dropping this entry bounds the memory, and keeps the counts of active callers.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    if (this.#buckets.size > this.#maxCallers) {
      const oldest = this.#buckets.keys().next();
      if (oldest.done !== true) this.#buckets.delete(oldest.value);
    }
  }
}
