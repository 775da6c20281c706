/** Connects to the broker, and reconnects as long as the host runs. */
import { type ConnectionOptions, type NatsConnection, connect } from "@nats-io/transport-node";
import { isThere } from "boxwright-service/broker";
import type { Logger } from "boxwright-service/log";

/** Bytes of a typical raw packet: [1, 84, 8400] in f32, and its JSON. */
const WANTED_PAYLOAD = 3_000_000;

/** Returns the connection settings of an address, which may contain user and password, or a token alone. */
export function settingsOf(address: string): ConnectionOptions {
  const url = new URL(address);
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  return {
    servers: `${url.hostname}:${url.port || 4222}`,
    name: "boxwright-host",
    // Reconnect without limit, since the broker may be away for any time.
    maxReconnectAttempts: -1,
    // Continue after authentication errors. By default, the client gives up at the second one, although the operator
    // may just be changing the password.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 500,
    reconnectJitter: 500,
    // Limit the handshake: by default, the client waits 20 s if the broker crashes during the handshake.
    timeout: 3000,
    pingInterval: 10_000,
    ...(pass !== "" ? { user, pass } : user !== "" ? { token: user } : {}),
    ...(url.protocol === "tls:" ? { tls: {} } : {}),
  };
}

export async function connectTo(address: string, log: Logger): Promise<NatsConnection> {
  const connection = await connect(settingsOf(address));
  const { server_name: name, version, max_payload: maxPayload } = connection.info ?? {};
  log.info({ name, version, maxPayload }, "connected to the broker");
  if ((maxPayload ?? 0) < WANTED_PAYLOAD)
    log.warn(
      { got: maxPayload, expected: WANTED_PAYLOAD },
      "the broker refuses raw packets of this size: set max_payload: 8MB in its configuration",
    );
  return connection;
}

export const isBrokerThere = (address: string): Promise<boolean> =>
  isThere(() => connect({ ...settingsOf(address), reconnect: false }));

/** Logs the events of a connection, and calls `onLost` whenever it is lost. */
export async function watch(connection: NatsConnection, log: Logger, onLost: () => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (["disconnect", "reconnect", "error"].includes(type)) log.warn({ status: type }, "broker");
    if (type === "disconnect") onLost();
  }
}
