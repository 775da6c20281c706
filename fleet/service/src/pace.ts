/** Time limits of a body: a smallest pace in every time window, and a largest total time. */
export interface Pace {
  /** Smallest number of bytes per second; 0 allows any. */
  readonly rate: number;
  /** Milliseconds of the window in which the pace is measured. Shorter pauses of the network have no effect. */
  readonly window: number;
  /** Milliseconds for the whole body. Absent: no limit as long as the pace is kept. */
  readonly most?: number;
}

export interface PaceWatch {
  count(bytes: number): void;
  end(): void;
}

/** Calls `onSlow` once with the reason if a body is too slow. A single timer checks once per window. */
export function watchPace({ rate, window, most = Infinity }: Pace, onSlow: (reason: string) => void): PaceWatch {
  if (rate === 0 && most === Infinity) return { count: () => undefined, end: () => undefined };
  // Check after `most` if `most` is shorter than a window.
  const tick = Math.min(window, most);
  const least = (rate * tick) / 1000;
  let inWindow = 0;
  let total = 0;
  let elapsed = 0;
  const timer = setInterval(() => {
    elapsed += tick;
    if (inWindow >= least && elapsed < most) return void (inWindow = 0);
    clearInterval(timer);
    onSlow(
      inWindow < least
        ? `got ${inWindow} bytes in ${tick / 1000} s, expected at least ${least}`
        : `got ${total} bytes in ${elapsed / 1000} s, expected the whole body by then`,
    );
  }, tick);
  return {
    count(bytes) {
      inWindow += bytes;
      total += bytes;
    },
    end: () => clearInterval(timer),
  };
}

/**
 * Yields the chunks of a body. If the body becomes too slow, ends early, as if its sender had closed the connection.
 */
export async function* keepPace(body: AsyncIterable<Buffer>, pace: Pace): AsyncGenerator<Buffer> {
  let onSlow: () => void;
  const slow = new Promise<"slow">((resolve) => (onSlow = () => resolve("slow")));
  const watch = watchPace(pace, () => onSlow());
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = chunks.next();
      // Ignore a later failure of the body, since nobody waits for it.
      next.catch(() => undefined);
      const found = await Promise.race([next, slow]);
      if (found === "slow" || found.done === true) return;
      watch.count(found.value.length);
      yield found.value;
    }
  } finally {
    watch.end();
  }
}
