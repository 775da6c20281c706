/** Checks a settings file as a whole. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf } from "boxwright-service/errors";
import { type Problem, SettingsError } from "../core/errors.ts";
import { deviceName } from "../core/ids.ts";
import { Fields, isObject } from "./fields.ts";
import { readSink } from "./sinks.ts";
import { readSource } from "./sources.ts";
import { LOG_LEVELS, type NetworkSettings, type Settings, type SpoolSettings } from "./types.ts";

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
    throw new SettingsError([{ path, message: `cannot be read (${messageOf(error)}), expected JSON` }]);
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
  const settings: Settings = {
    // Without a name the device is known by its host name and the id in its state folder.
    device: fields.has("device") ? fields.name("device") : nameOfDevice(fields, state),
    state,
    network: readNetwork(fields.object("network")),
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

function readNetwork(fields: Fields): NetworkSettings {
  const model = fields.path("model");
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

/** The names are checked at start, when the runtime can say what it has. */
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
