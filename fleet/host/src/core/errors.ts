/** Defines the errors that the sender of a frame or the operator gets. */

/**
 * HTTP status of each reason of a refusal:
 * - permanent: "foreign", "cut off", "too large", "other config", "tensors", "no name", "picture", "config", "source"
 * (the source belongs to another device than the token)
 * - until the host gets the config: "unknown config"
 * - temporary: "busy" (queue full, or sender's share used up), "slow" (body), "unavailable" (database or threads),
 * "rate" (previews)
 */
const STATUS = {
  ...{ foreign: 400, "cut off": 400, "too large": 413, "other config": 400, tensors: 400, "no name": 400 },
  ...{
    picture: 400,
    config: 400,
    source: 403,
    "unknown config": 409,
    busy: 429,
    slow: 408,
    unavailable: 503,
    rate: 429,
  },
} as const;

/** Reason of a refusal, also the label of the counter `boxwright_host_refused_total`. */
export type Reason = keyof typeof STATUS;

/** Error: the host refuses a packet, config or preview. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly reason: Reason;
  /** Hash of a config that the host does not have; null for other reasons. */
  readonly config: string | null;
  /** Seconds after which the sender may try again; null if never, or if the host first needs the config. */
  readonly retryAfter: number | null;

  constructor(reason: Reason, message: string, about: { config?: string | null; retryAfter?: number } = {}) {
    super(message);
    this.reason = reason;
    this.config = about.config ?? null;
    const isForNow = this.status === 408 || this.status === 429 || this.status === 503;
    this.retryAfter = about.retryAfter ?? (isForNow ? 1 : null);
  }

  get status(): (typeof STATUS)[Reason] {
    return STATUS[this.reason];
  }

  /** True if sending the same bytes again can never succeed. */
  get isForGood(): boolean {
    return this.status === 400 || this.status === 403 || this.status === 413;
  }
}
