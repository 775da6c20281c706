/** Reads and writes configs in the broker's key-value store, which agents and all hosts share. */
import { Kvm } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import type { SharedConfigs } from "../decode/registry.ts";

export const BUCKET = "boxwright-configs";

export async function sharedConfigs(connection: NatsConnection): Promise<SharedConfigs> {
  const bucket = await new Kvm(connection).create(BUCKET);
  return {
    get: async (hash) => {
      const entry = await bucket.get(hash);
      return entry?.operation === "PUT" ? entry.string() : undefined;
    },
    put: async (hash, body) => {
      await bucket.put(hash, body);
    },
  };
}
