/**
 * Shares a limited capacity, the room, among senders, so that nobody waits for a slow one.
 *
 * A visit is one use of the room, for instance a request body. A visit that lasts longer than `slowAfter` counts as
 * slow. All slow visits together get half of the room, so that the other half stays free for quick ones. A known sender
 * also has a limit of its own.
 */
export interface RoomOptions {
  /** Largest total of all visits, in the unit that `take` counts. */
  readonly size: number;
  /** Largest number of simultaneous visits of one sender. */
  readonly ofSender: number;
  /** Milliseconds after which a visit counts as slow. */
  readonly slowAfter: number;
  /** Returns a monotonic time in milliseconds. */
  readonly now?: () => number;
}

/**
 * Why a visit gets no room.
 * - "share": the sender already has the largest number of visits
 * - "slow": the visit is slow, and slow visits already use half of the room
 * - "full": all visits together already use the whole room
 */
export type NoRoomKind = "share" | "slow" | "full";

export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
  readonly kind: NoRoomKind;

  constructor(kind: NoRoomKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface Visit {
  /**
   * Takes more room for the visit.
   * @throws NoRoomError
   */
  take(amount: number): void;
  /** Gives back the room of the visit. A second call does nothing. */
  leave(): void;
}

interface Open {
  readonly sender: string | undefined;
  readonly since: number;
  amount: number;
  isSlow: boolean;
}

export class Room {
  readonly #options: Required<RoomOptions>;
  /** Quick visits, the oldest first. */
  readonly #quick = new Set<Open>();
  readonly #visitsOf = new Map<string, number>();
  #taken = 0;
  #takenBySlow = 0;

  constructor(options: RoomOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Total room that all visits use. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Begins a visit.
   * @param sender undefined for an unknown sender, who has no limit of visits
   * @throws NoRoomError of kind "share"
   */
  enter(sender?: string): Visit {
    const { ofSender, now } = this.#options;
    const own = sender === undefined ? 0 : (this.#visitsOf.get(sender) ?? 0);
    if (own >= ofSender)
      throw new NoRoomError(
        "share",
        `got ${own} requests of this sender at once already, expected at most ${ofSender}`,
      );
    if (sender !== undefined) this.#visitsOf.set(sender, own + 1);
    const open: Open = { sender, since: now(), amount: 0, isSlow: false };
    this.#quick.add(open);
    let isOpen = true;
    return {
      take: (amount) => this.#take(open, amount),
      leave: () => {
        if (isOpen) this.#leave(open);
        isOpen = false;
      },
    };
  }

  #take(open: Open, amount: number): void {
    const { size, slowAfter } = this.#options;
    this.#findSlow();
    if (open.isSlow && this.#takenBySlow + amount > size / 2)
      throw new NoRoomError(
        "slow",
        `got a request that takes longer than ${slowAfter / 1000} s while slow ones have their half of the room; send it again later`,
      );
    if (this.#taken + amount > size)
      throw new NoRoomError("full", "the room for requests is full; send it again later");
    open.amount += amount;
    this.#taken += amount;
    if (open.isSlow) this.#takenBySlow += amount;
  }

  #leave(open: Open): void {
    this.#quick.delete(open);
    this.#taken -= open.amount;
    if (open.isSlow) this.#takenBySlow -= open.amount;
    if (open.sender === undefined) return;
    const left = this.#visitsOf.get(open.sender)! - 1;
    if (left > 0) this.#visitsOf.set(open.sender, left);
    else this.#visitsOf.delete(open.sender);
  }

  /** Counts the visits that have lasted longer than `slowAfter` as slow. The oldest visit is first in `#quick`. */
  #findSlow(): void {
    const limit = this.#options.now() - this.#options.slowAfter;
    for (const open of this.#quick) {
      if (open.since > limit) return;
      this.#quick.delete(open);
      open.isSlow = true;
      this.#takenBySlow += open.amount;
    }
  }
}
