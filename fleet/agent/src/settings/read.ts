/** Reads settings and checks them as a whole. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { messageOf } from "boxwright-service/errors";
import { nearest } from "boxwright-service/names";
import { isObject, placeOf, sentenceOf, showSetting, type TypeOf } from "boxwright-service/schema/json";
import { type Problem, SettingsError } from "../core/errors.ts";
import { deviceName } from "../core/ids.ts";
import { pathIn } from "./parts.ts";
import { hub, type HubSettings, type Settings, settings } from "./schema.ts";

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
  const { output, problems } = check(settings(pathIn(folder)), json, "");
  problems.push(...problemsTogether(json));
  if (problems.length > 0) throw new SettingsError(problems);
  // Without a name, identify the device by its host name and the id in its state folder.
  return { ...output, device: output.device ?? nameOfDevice(output.state) };
}

/**
 * Checks the settings of a hub.
 * @throws SettingsError with every problem at once
 */
export function readHub(json: unknown): HubSettings {
  const { output, problems } = check(hub(pathIn(process.cwd())), json, "hub");
  if (problems.length > 0) throw new SettingsError(problems);
  return output;
}

/** Returns the checked value, which is only valid without problems, and the first problem of each field. */
function check<S extends v.GenericSchema>(schema: S, json: unknown, at: string) {
  const { issues = [], output } = v.safeParse(schema, json);
  const problems: Problem[] = [];
  for (const issue of issues) {
    const place = placeOf(issue.path);
    const path = (at && place ? `${at}.${place}` : at || place) || "settings";
    if (!problems.some((one) => one.path === path)) problems.push({ path, message: sentenceOf(issue, showSetting) });
  }
  return { output: output as TypeOf<S>, problems };
}

/** Returns the problems of settings that do not fit together. */
function problemsTogether(json: unknown): Problem[] {
  if (!isObject(json)) return [];
  const has = (given: unknown, key: string): boolean => isObject(given) && given[key] != null;
  const problems: Problem[] = [];
  if (has(json, "hub") && has(json, "device"))
    problems.push({
      path: "device",
      message: "stands beside hub, which gives the device its id. Leave it out, or name the device by hub.name",
    });
  const network = json["network"] ?? {};
  if (!has(json, "hub") && isObject(network) && !has(network, "model"))
    problems.push({
      path: "network.model",
      message: "is missing, expected an ONNX file, or a hub that gives a network",
    });
  return problems;
}

function nameOfDevice(state: string): string {
  try {
    return deviceName(state);
  } catch (error) {
    const message = `cannot be written (${messageOf(error)}), expected a folder for the id of the device`;
    throw new SettingsError([{ path: "state", message }]);
  }
}
