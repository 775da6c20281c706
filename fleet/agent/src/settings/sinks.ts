/** The schema of a sink. */
import * as v from "valibot";
import { MQTT_TOPIC, isTopic, readMqttAddress } from "boxwright-service/mqtt";
import { isWebAddress, nullable, type TypeOf, within } from "boxwright-service/schema/json";
import { address, eitherOf, fileWith, group, oneKind, type Path, secretText, text, whole } from "./parts.ts";

/** Largest number of partitions, the same as in hosts (`partitions` in host/src/core/config.ts). */
const MOST_PARTITIONS = 256;
/** Largest number of bytes of a packet that hosts accept by default (`maxPacketBytes` in host/src/core/config.ts). */
const PACKET_BYTES = 8 * 2 ** 20;

/** True for a broker's address, with or without the protocol. */
function isBroker(given: string): boolean {
  const full = given.includes("://") ? given : `nats://${given}`;
  return URL.canParse(full) && /^(nats|tls):$/.test(new URL(full).protocol) && new URL(full).hostname !== "";
}

const servers = v.pipe(
  v.custom<unknown[]>(
    (given) => Array.isArray(given) && given.length > 0,
    ({ input }) =>
      `got ${Array.isArray(input) ? "none" : `a ${typeof input}`}, expected a list of addresses, ["127.0.0.1:4222"]`,
  ),
  v.array(address("a host and port, nats:// or tls://, with user:password@ if the broker asks for them", isBroker)),
);

const topic = v.pipe(text, v.check(isTopic, "a topic without +, # and $, and without a slash at its ends"));

/** Schemas of sinks by kind. */
export function sinkKinds(path: Path) {
  const named = <const K extends string>(kind: K) => ({ kind: v.literal(kind), name: v.nullish(text, kind) });
  const tokens = { token: nullable(secretText), tokenFile: nullable(fileWith(path, secretText)) };
  return {
    ndjson: group({ ...named("ndjson"), path }),
    http: v.pipe(
      group({
        ...named("http"),
        url: address("http:// or https:// and a host, without user and password", isWebAddress),
        ...tokens,
        /** Largest number of packets that are sent and not yet answered. */
        inFlight: whole(1, 64, 4),
      }),
      eitherOf("token", "tokenFile"),
      v.transform(({ tokenFile, token, url, ...given }) => ({
        ...given,
        url: url.replace(/\/+$/, ""),
        token: token ?? tokenFile,
      })),
    ),
    nats: v.pipe(
      group({
        ...named("nats"),
        servers,
        ...tokens,
        /** Number of partitions that the stream must have; null for any. */
        partitions: nullable(within(1, MOST_PARTITIONS, true)),
        inFlight: whole(1, 1024, 16),
      }),
      eitherOf("token", "tokenFile"),
      v.transform(({ tokenFile, token, ...given }) => ({ ...given, token: token ?? tokenFile })),
    ),
    mqtt: v.pipe(
      group({
        ...named("mqtt"),
        url: address(
          "an address like mqtt://broker:1883 or mqtts://broker",
          (given) => readMqttAddress(given) !== null,
        ),
        /** User and password, unless the address has them. */
        user: nullable(text),
        password: nullable(secretText),
        passwordFile: nullable(fileWith(path, secretText)),
        /** First level of the topics of packets, configs, answers and previews. */
        topic: v.nullish(topic, MQTT_TOPIC),
        inFlight: whole(1, 1024, 16),
        /**
         * Seconds within which a host must answer that it has stored a packet. With 0, the broker's acknowledgement is
         * enough, although a broker may lose acknowledged packets.
         */
        confirmSeconds: whole(0, 3600, 30),
        /** Largest number of bytes of a packet. The host also has a limit, and the broker may have one. */
        maxPacketBytes: whole(1024, 2 ** 28 - 2 ** 20, PACKET_BYTES),
      }),
      eitherOf("password", "passwordFile"),
      v.transform(({ url, user, password, passwordFile, ...given }) => {
        const place = readMqttAddress(url)!;
        const secret = password ?? passwordFile ?? place.password;
        return { ...given, address: { ...place, user: user ?? place.user, password: secret } };
      }),
    ),
  };
}

export const sink = (path: Path) => oneKind(sinkKinds(path));

export type SinkSettings = TypeOf<ReturnType<typeof sink>>;
type OfKind<K extends SinkSettings["kind"]> = Extract<SinkSettings, { readonly kind: K }>;
export type NdjsonSettings = OfKind<"ndjson">;
export type HttpSettings = OfKind<"http">;
export type NatsSettings = OfKind<"nats">;
export type MqttSettings = OfKind<"mqtt">;
