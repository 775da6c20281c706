/** Detects a NATS broker whose JetStream is stuck, and says what an operator has to do. Agents and hosts share it. */

/**
 * Measured: nats-server 2.9.10 answers nothing of JetStream after its disk was full, until it is killed and started
 * again; 2.15.1 stores nothing until it is started again; 2.10.27 says why, and goes on as soon as there is room.
 */
export const STUCK_BROKER =
  "the broker is there, but its JetStream does not answer: the disk of its store_dir may be full, or may have been. " +
  "Look at the free space and at the broker's log. Make room, then end nats-server (2.9: with SIGKILL) and start it again";

/** True for an answer of the client library that did not come in time. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";

/**
 * True if the broker takes a new connection. A stuck broker does, although it answers nothing on its old connections,
 * not even a ping.
 */
export const isThere = (connect: () => Promise<{ close(): Promise<void> }>): Promise<boolean> =>
  connect().then(
    async (connection) => {
      await connection.close();
      return true;
    },
    () => false,
  );
