/** The schema of a settings file, and the types of checked settings. All paths in checked settings are absolute. */
import * as v from "valibot";
import { messageOf } from "boxwright-service/errors";
import { readPublicKey } from "boxwright-service/release";
import {
  anyObject,
  hubAddressOf,
  isWebAddress,
  list,
  nullable,
  secret,
  type TypeOf,
  within,
} from "boxwright-service/schema/json";
import { withoutSecrets } from "../core/errors.ts";
import { machine } from "../core/machine.ts";
import { address, choice, eitherOf, fileWith, group, listOf, name, type Path, section, text, whole } from "./parts.ts";
import { sink } from "./sinks.ts";
import { isFile, source } from "./sources.ts";

const GIGABYTE = 2 ** 30;

/** Adopt key for enrolment. */
const adoptKey = secret("an adopt key of the hub's page, which begins with bwa_", /^bwa_[^\s\p{C}]+$/u);

/** The hub that the device belongs to. */
export const hub = (path: Path) =>
  v.pipe(
    group({
      /** Address without a slash at the end. */
      url: v.pipe(
        address("an address like https://hub.example.org", (given) => hubAddressOf(given) !== null),
        v.transform((given) => hubAddressOf(given)!),
      ),
      /** Null if the device must be enrolled already. */
      adoptKey: nullable(adoptKey),
      adoptKeyFile: nullable(fileWith(path, adoptKey)),
      /** Name for the device on the hub's page, set at enrolment. */
      name: v.nullish(name, machine.name.slice(0, 100)),
      /** Largest number of bytes of all snaps that wait for the hub. */
      snapBytes: whole(0, 2 ** 40, 64 * 2 ** 20),
    }),
    eitherOf("adoptKey", "adoptKeyFile"),
    v.transform(({ adoptKeyFile, ...given }) => ({ ...given, adoptKey: given.adoptKey ?? adoptKeyFile })),
  );
export type HubSettings = TypeOf<ReturnType<typeof hub>>;

const MOST_KEYS = 8;
const KEYS = `a list of at most ${MOST_KEYS} keys, as \`boxwright-agent release key\` prints them`;

const publicKey = v.pipe(
  v.string("a key"),
  v.rawCheck(({ dataset, addIssue }) => {
    try {
      if (dataset.typed) readPublicKey(dataset.value);
    } catch (error) {
      addIssue({ message: messageOf(error) });
    }
  }),
);

/** Settings for updates of the agent by the hub. */
const update = group({
  /** Public keys that may sign a version: ed25519:... If empty, the device accepts no updates. */
  keys: v.nullish(list(MOST_KEYS, publicKey, 0, KEYS), []),
  /** Minutes for which a new version must stay healthy. */
  healthyMinutes: v.nullish(within(0.01, 1440), 10),
});

const file = (path: Path) =>
  v.pipe(
    path,
    v.check(isFile, ({ input }) => `got ${withoutSecrets(input)}, which is no file, expected one`),
  );

const network = (path: Path) =>
  v.pipe(
    group({
      /** The ONNX file; null if the hub assigns the network. */
      model: nullable(file(path)),
      /** The config file, which is watched for changes. Null if only the model file may state how to decode. */
      config: nullable(file(path)),
      /** Options of `createDetector` that JSON can hold. */
      options: v.nullish(anyObject, {}),
      /** The part that decodes if the config does not say: the device or the host. */
      output_format: v.nullish(choice(["detection", "raw"]), "raw"),
      /** Number of threads of the runtime; null for the runtime's default. */
      threads: nullable(within(1, 64, true)),
      /**
       * Execution providers of ONNX Runtime, the preferred one first; null for the runtime's default. The names are
       * checked at start, when the runtime can list its providers.
       */
      providers: nullable(list(100, text, 1, 'a list of names, for instance ["cuda", "cpu"]')),
    }),
    v.transform(({ output_format: outputFormat, ...given }) => ({ ...given, outputFormat })),
  );
export type NetworkSettings = TypeOf<ReturnType<typeof network>>;

const spool = group({
  /** Largest number of bytes of all packets on disk. */
  maxBytes: whole(2 ** 16, 2 ** 50, GIGABYTE),
  /** Rule at `maxBytes`: the oldest packets are dropped, or new ones wait. */
  policy: v.nullish(choice(["drop-oldest", "block"]), "block"),
  /** Moment of flushing bytes to the disk. Only a power cut can lose unflushed packets; a killed process loses none. */
  fsync: v.nullish(choice(["each", "second", "never"]), "second"),
  /** Largest number of bytes of all packets that a receiver refused permanently. */
  refusedBytes: whole(0, 2 ** 50, 64 * 2 ** 20),
});
export type SpoolSettings = TypeOf<typeof spool>;

const preview = group({
  /** Seconds between two pictures of a camera. */
  every: v.nullish(within(0.1, 3600), 2),
  /** Width in pixels. */
  width: whole(16, 4096, 640),
});
export type PreviewSettings = TypeOf<typeof preview>;

const health = group({ host: v.nullish(text, "127.0.0.1"), port: whole(0, 65535, 9401) });
export type HealthSettings = TypeOf<typeof health>;

/** Traces of frames. */
const traces = group({
  /** OpenTelemetry collector that takes OTLP/HTTP. */
  url: address("the address of a collector, like http://localhost:4318, without user and password", isWebAddress),
  /** Share of the frames that are traced. */
  share: v.nullish(within(0, 1), 0.01),
});

/** Accepts the content of a settings file. */
export const settings = (path: Path) =>
  group({
    /** Name of the device, used as `source` of each packet. With a hub, the hub assigns the source. */
    device: nullable(name),
    hub: nullable(hub(path)),
    update: section(update),
    /** Folder of the spool, the refused packets, and all state that outlives a restart. */
    state: v.nullish(path, "boxwright-agent"),
    network: section(network(path)),
    sources: listOf("sources", source(path), "camera"),
    sinks: listOf("sinks", sink(path), "name"),
    spool: section(spool),
    preview: nullable(preview),
    health: nullable(health),
    traces: nullable(traces),
    log: v.nullish(choice(["debug", "info", "warn", "error", "silent"]), "info"),
  });
export type Settings = TypeOf<ReturnType<typeof settings>> & { readonly device: string };
