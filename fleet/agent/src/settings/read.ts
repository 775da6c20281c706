/** Checks a settings file as a whole. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf } from "boxwright-service/errors";
import { nearest } from "boxwright-service/names";
import { readPublicKey } from "boxwright-service/release";
import { type Problem, SettingsError } from "../core/errors.ts";
import { deviceName } from "../core/ids.ts";
import { Fields, isObject } from "./fields.ts";
import { readSink } from "./sinks.ts";
import { readSource } from "./sources.ts";
import { machine } from "../core/machine.ts";
import {
  type HubSettings,
  LOG_LEVELS,
  type NetworkSettings,
  type Settings,
  type SpoolSettings,
  type UpdateSettings,
} from "./types.ts";

const GIGABYTE = 2 ** 30;

/**
 * Reads and checks a settings file.
 * @throws SettingsError with every problem at once
 */
export function readSettingsFile(path: string): Settings {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const command = nearest(path, ["enrol", "refused"]);
    const meant = command === undefined ? "" : `. Did you mean the command "${command}"?`;
    throw new SettingsError([{ path, message: `cannot be read (${messageOf(error)}), expected JSON${meant}` }]);
  }
  return readSettings(json, dirname(resolve(path)));
}

/**
 * Checks settings.
 * @param folder that paths are relative to
 * @throws SettingsError with every problem at once
 */
export function readSettings(json: unknown, folder: string): Settings {
  const problems: Problem[] = [];
  const fields = new Fields(json, "", problems, folder);
  const state = fields.path("state", "boxwright-agent");
  const hub = fields.has("hub") ? readHubFields(fields.object("hub")) : (fields.value("hub"), null);
  if (hub && fields.has("device"))
    fields.problem(
      "device",
      "stands beside hub, which gives the device its id. Leave it out, or name the device by hub.name",
    );
  const settings: Settings = {
    // Without a name, identify the device by its host name and the id in its state folder.
    device: fields.has("device") ? fields.name("device") : nameOfDevice(fields, state),
    hub,
    update: readUpdate(fields.object("update")),
    state,
    network: readNetwork(fields.object("network"), hub !== null),
    sources: fields.list("sources").map(readSource),
    sinks: fields.list("sinks").map(readSink),
    spool: readSpool(fields.object("spool")),
    preview: fields.has("preview") ? readPreview(fields.object("preview")) : (fields.value("preview"), null),
    health: fields.has("health") ? readHealth(fields.object("health")) : (fields.value("health"), null),
    log: fields.choice("log", LOG_LEVELS, "info"),
  };
  fields.end();
  checkUnique(
    settings.sources.map(({ camera }) => camera),
    "sources",
    "camera",
    problems,
  );
  checkUnique(
    settings.sinks.map(({ name }) => name),
    "sinks",
    "name",
    problems,
  );
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

function nameOfDevice(fields: Fields, state: string): string {
  fields.value("device");
  try {
    return deviceName(state);
  } catch (error) {
    fields.problem("state", `cannot be written (${messageOf(error)}), expected a folder for the id of the device`);
    return "";
  }
}

/**
 * Checks the settings of a hub.
 * @throws SettingsError with every problem at once
 */
export function readHub(json: unknown): HubSettings {
  const problems: Problem[] = [];
  const hub = readHubFields(new Fields(json, "hub", problems, process.cwd()));
  if (problems.length > 0) throw new SettingsError(problems);
  return hub;
}

function readHubFields(fields: Fields): HubSettings {
  const given = fields.text("url");
  const url = URL.canParse(given) ? new URL(given) : null;
  if (given !== "" && (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search + url.hash !== ""))
    fields.problem("url", `got "${given}", expected an address like https://hub.example.org`);
  const adoptKey = fields.secret("adoptKey", "adoptKeyFile");
  if (adoptKey !== null && !adoptKey.startsWith("bwa_"))
    fields.problem(
      "adoptKey",
      `got a text of ${adoptKey.length} characters, expected an adopt key of the hub's page, which begins with bwa_`,
    );
  const hub: HubSettings = {
    url: url ? url.href.replace(/\/+$/, "") : "",
    adoptKey,
    name: fields.name("name", machine.name.slice(0, 100)),
    snapBytes: fields.number("snapBytes", [0, 2 ** 40], 64 * 2 ** 20),
  };
  fields.end();
  return hub;
}

const MOST_KEYS = 8;

function readUpdate(fields: Fields): UpdateSettings {
  const given = fields.value("keys") ?? [];
  const keys = Array.isArray(given) && given.every((key) => typeof key === "string") ? given : null;
  if (keys === null || keys.length > MOST_KEYS)
    fields.problem(
      "keys",
      `expected a list of at most ${MOST_KEYS} keys, as \`boxwright-agent release key\` prints them`,
    );
  for (const [i, key] of (keys ?? []).entries())
    try {
      readPublicKey(key);
    } catch (error) {
      fields.problem(`keys[${i}]`, messageOf(error));
    }
  const update = { keys: keys ?? [], healthyMinutes: fields.number("healthyMinutes", [0.01, 1440], 10, false) };
  fields.end();
  return update;
}

/** @param hasHub true if the hub assigns the network, so that the files are optional */
function readNetwork(fields: Fields, hasHub: boolean): NetworkSettings {
  const model = hasHub ? fields.optionalPath("model") : fields.path("model");
  const config = fields.optionalPath("config");
  for (const [key, path] of Object.entries({ model, config }))
    if (path !== null && fields.has(key) && !isFile(path))
      fields.problem(key, `got ${path}, which is no file, expected one`);
  const options = fields.value("options") ?? {};
  if (!isObject(options)) fields.problem("options", "expected an object with options of createDetector");
  const outputFormat = fields.choice("output_format", ["detection", "raw"], "raw");
  const threads = fields.optionalNumber("threads", [1, 64]);
  const providers = fields.has("providers") ? readProviders(fields) : (fields.value("providers"), null);
  fields.end();
  return { model, config, options: isObject(options) ? options : {}, outputFormat, threads, providers };
}

/** Reads the names only. They are checked at start, when the runtime can list its providers. */
function readProviders(fields: Fields): readonly string[] {
  const names = fields.value("providers");
  if (Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === "string")) return names;
  fields.problem("providers", 'expected a list of names, for instance ["cuda", "cpu"]');
  return [];
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

function readSpool(fields: Fields): SpoolSettings {
  const spool: SpoolSettings = {
    maxBytes: fields.number("maxBytes", [2 ** 16, 2 ** 50], GIGABYTE),
    policy: fields.choice("policy", ["drop-oldest", "block"], "block"),
    fsync: fields.choice("fsync", ["each", "second", "never"], "second"),
    refusedBytes: fields.number("refusedBytes", [0, 2 ** 50], 64 * 2 ** 20),
  };
  fields.end();
  return spool;
}

function readPreview(fields: Fields): { every: number; width: number } {
  const preview = {
    every: fields.number("every", [0.1, 3600], 2, false),
    width: fields.number("width", [16, 4096], 640),
  };
  fields.end();
  return preview;
}

function readHealth(fields: Fields): { host: string; port: number } {
  const health = { host: fields.text("host", "127.0.0.1"), port: fields.number("port", [0, 65535], 9401) };
  fields.end();
  return health;
}

function checkUnique(names: readonly string[], list: string, key: string, problems: Problem[]): void {
  names.forEach((name, i) => {
    const first = names.indexOf(name);
    if (name && first < i)
      problems.push({
        path: `${list}[${i}].${key}`,
        message: `got "${name}", which ${list}[${first}] has, expected another`,
      });
  });
}
