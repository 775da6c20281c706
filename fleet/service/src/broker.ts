/** Detects a NATS broker whose JetStream hangs, and advises the operator. Agents and hosts use this file. */

/**
 * Advice about a hanging broker. Measured after a full disk: nats-server 2.9.10 answers no JetStream request until it
 * is killed and started again. 2.15.1 stores nothing until it is started again. 2.10.27 reports the cause, and
 * continues as soon as there is space.
 */
export const STUCK_BROKER =
  "the broker is there, but its JetStream does not answer: the disk of its store_dir may be full, or may have been. " +
  "Look at the free space and at the broker's log. Make room, then end nats-server (2.9: with SIGKILL) and start it again";

/** True if the client library reports a timeout. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";

/**
 * True if the broker accepts a new connection. A hanging broker accepts new connections too, although it answers
 * nothing on old ones.
 */
export const isThere = (connect: () => Promise<{ close(): Promise<void> }>): Promise<boolean> =>
  connect().then(
    async (connection) => {
      await connection.close();
      return true;
    },
    () => false,
  );
