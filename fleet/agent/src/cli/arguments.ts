/** Parses the command line. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type FlagKind, type Flags, readFlags } from "boxwright-service/flags";
import { messageOf } from "boxwright-service/errors";
import { isLoopback } from "boxwright-service/schema/options";
import { type Problem, SettingsError, withoutSecrets } from "../core/errors.ts";
import { deviceName, sha256 } from "../core/ids.ts";
import { readSettings, readSettingsFile } from "../settings/read.ts";
import type { Settings } from "../settings/schema.ts";

export const USAGE = `boxwright-agent SETTINGS.json            run by a settings file
boxwright-agent SETTINGS.json --check    check the file, the model and the config, and end
boxwright-agent --photos FOLDER --model NETWORK.onnx [options]
boxwright-agent --photos FOLDER --hub URL --key ADOPT_KEY [options]

  --config FILE     config of the network. Without one, the model file has to say how to decode
  --to WHERE        a file (detections.ndjson by default) or the address of a host, http://localhost:8790, which is the
                    default beside a hub on this machine
  --hub URL         the hub that this device belongs to: it gives the network if there is no --model
  --key KEY         adopt key of the hub, for the first start; or --key-file FILE
  --name NAME       name of this device on the hub's page
  --token-file FILE token of the host
  --family NAME     family of the network, if the model file does not say it
  --labels NAME     class names: coco80, coco91, voc20, voc21
  --raw             send tensors, and let the host decode
  --watch           wait for new photos
  --state FOLDER    folder of the spool
boxwright-agent --version                prints the version
`;

export interface Command {
  readonly settings: Settings;
  readonly isCheck: boolean;
}

const OPTIONS: Readonly<Record<string, FlagKind>> = {
  ...{ photos: "text", model: "text", config: "text", to: "text", "token-file": "text", family: "text" },
  ...{ hub: "text", key: "text", "key-file": "text", name: "text" },
  ...{ labels: "text", raw: "switch", watch: "switch", state: "text", check: "switch", help: "switch" },
};

/**
 * Parses the command line.
 * @returns null if the user asked for the usage
 * @throws SettingsError that lists every problem
 */
export function readCommand(args: readonly string[]): Command | null {
  if (args.includes("-h")) return null;
  const { values, words: positionals, problems } = readFlags(args, OPTIONS);
  if (values["help"]) return null;
  if (problems.length > 0) throw new SettingsError(problems.map((message) => ({ path: "command line", message })));
  const [file] = positionals;
  const isShort = values["photos"] !== undefined;
  if (file === undefined && !isShort) {
    if (args.length === 0 || Object.keys(values).length === 0) return null;
    throw new SettingsError([{ path: "command line", message: "got no settings file and no --photos, expected one" }]);
  }
  if (positionals.length > 1 || (file !== undefined && isShort))
    throw new SettingsError([{ path: "command line", message: "expected one settings file, or --photos" }]);
  const isCheck = values["check"] === true;
  return { settings: file === undefined ? shortSettings(values) : readSettingsFile(file), isCheck };
}

/** Returns the settings for a folder of photos. */
function shortSettings(values: Flags["values"]): Settings {
  const { photos, model, config, family, labels } = values;
  const hub = hubOf(values);
  const to = String(values.to ?? defaultTarget(hub?.url));
  const token = values["token-file"];
  const isHost = /^https?:\/\//.test(to);
  const problem = isHost ? null : problemOfFile(to);
  if (problem !== null) throw new SettingsError([{ path: "--to", message: `got "${withoutSecrets(to)}", ${problem}` }]);
  const path = resolve(String(photos));
  const options = { ...(family !== undefined && { family }), ...(labels !== undefined && { labels }) };
  const settings = {
    ...(hub ? { hub } : { device: ownName() }),
    state: values.state ?? (hub ? hubState(String(hub.url)) : stateFor(path, isHost ? to : resolve(to))),
    network: {
      ...(model !== undefined && { model }),
      ...{ options, output_format: values.raw ? "raw" : "detection" },
      ...(config !== undefined && { config }),
    },
    sources: [
      {
        kind: existsSync(path) && /\.(jpe?g|png|webp)$/i.test(path) ? "image" : "folder",
        path,
        // Keep running after the last photo if there is a hub, so that the device stays online.
        ...((values.watch ?? hub) && { watch: true }),
      },
    ],
    sinks: [
      isHost
        ? { kind: "http", url: to, ...(token !== undefined && { tokenFile: token }) }
        : { kind: "ndjson", path: to },
    ],
    ...(isHost && { preview: {} }),
    // Log more if there is a hub: the agent then keeps running, and should report its enrolment and its waits.
    log: hub ? "info" : "warn",
  };
  try {
    return readSettings(settings, process.cwd());
  } catch (error) {
    throw error instanceof SettingsError ? new SettingsError(error.problems.map(withFlag)) : error;
  }
}

/** Returns the `hub` settings of the flags --hub, --key, --key-file and --name; null without them. */
function hubOf(values: Flags["values"]): { readonly url: string | true } | null {
  const { hub: url, key: adoptKey, "key-file": adoptKeyFile, name } = values;
  if (url !== undefined)
    return {
      url,
      ...(adoptKey !== undefined && { adoptKey }),
      ...(adoptKeyFile !== undefined && { adoptKeyFile }),
      ...(name !== undefined && { name }),
    };
  const lonely = ["key", "key-file", "name"].filter((flag) => values[flag] !== undefined);
  if (lonely.length === 0) return null;
  throw new SettingsError(
    lonely.map((flag) => ({ path: `--${flag}`, message: "got it without --hub, expected both" })),
  );
}

/** Returns the default of --to: without a hub, a file; with a hub on this machine, a host on this machine. */
function defaultTarget(hub: string | true | undefined): string {
  if (hub === undefined) return "detections.ndjson";
  const local = "http://localhost:8790";
  // Return the default for an invalid address too. The check of the settings reports the address.
  if (!/^https?:\/\/./.test(String(hub)) || !URL.canParse(String(hub))) return local;
  if (isLoopback(new URL(String(hub)).hostname)) return local;
  throw new SettingsError([{ path: "--to", message: "got none, expected the address of a host, or a file" }]);
}

/** Returns why detections cannot be written to this file; null if they can. */
function problemOfFile(to: string): string | null {
  if (/^([\w.-]+|\[[\da-f:]+\]):\d+(\/|$)|^\w+:\/\//.test(to))
    return "expected a file, or a host that begins with http:// or https://";
  return existsSync(dirname(resolve(to))) ? null : "expected a file in a folder that exists";
}

/** Option of the command line for each field of the settings. */
const FLAGS: Readonly<Record<string, string>> = {
  "network.model": "--model",
  "network.config": "--config",
  "sources[0].path": "--photos",
  "sinks[0].url": "--to",
  "sinks[0].path": "--to",
  "sinks[0].tokenFile": "--token-file",
  state: "--state",
  "hub.url": "--hub",
  "hub.adoptKey": "--key",
  "hub.adoptKeyFile": "--key-file",
  "hub.name": "--name",
};

/** Renames the path of a problem from the settings field to the command-line option that filled it. */
const withFlag = ({ path, message }: Problem): Problem => ({ path: FLAGS[path] ?? path, message });

/** Returns the folder in which commands of this user keep their state: the device id, and one folder per command. */
const stateBase = (): string =>
  join(process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state"), "boxwright-agent");

/** Returns the name of this device, which contains the id from the state folder of this user. */
function ownName(): string {
  const folder = stateBase();
  try {
    return deviceName(folder);
  } catch (error) {
    const message = `cannot be written (${messageOf(error)}), expected HOME or XDG_STATE_HOME to name a folder of this user`;
    throw new SettingsError([{ path: folder, message }]);
  }
}

/** Returns the state folder that this machine uses as a device of the given hub. */
export const hubState = (hub: string): string =>
  join(stateBase(), `hub-${sha256(hub.replace(/\/+$/, "")).slice(0, 16)}`);

/**
 * Returns the state folder for a combination of photos and target, so that different commands have separate folders.
 */
function stateFor(photos: string, target: string): string {
  return join(stateBase(), sha256(`${photos}\n${target}`).slice(0, 16));
}
