/** `boxwright-agent enrol`: enrols this device at a hub and stores its credential. */
import { hostname } from "node:os";
import { readFlags } from "boxwright-service/flags";
import { makeFolder } from "../core/files.ts";
import { SettingsError } from "../core/errors.ts";
import { acceptedIdentity, enrol, followHub } from "../hub/enrol.ts";
import { lockFolder } from "../spool/lock.ts";
import { readHub, readSettingsFile } from "../settings/read.ts";
import { hubState } from "./arguments.ts";

export const ENROL_USAGE = `boxwright-agent enrol --hub URL --key ADOPT_KEY    makes this device one of the hub's
boxwright-agent enrol SETTINGS.json --key ADOPT_KEY  the same, for the hub and the state folder of the file
  --key-file FILE, --name NAME, --state FOLDER; --again enrols a device anew that is enrolled
boxwright-agent enrol SETTINGS.json --moved          keeps the credential for the new address of the same hub
`;

/** Runs the command. Returns the text for standard output. */
export async function runEnrol(args: readonly string[]): Promise<string> {
  const texts = { hub: "text", key: "text", "key-file": "text", name: "text", state: "text" } as const;
  const { values, words, problems } = readFlags(args, { ...texts, again: "switch", moved: "switch" });
  problems.push(...words.slice(1).map((word) => `"${word}": belongs to no flag`));
  if (values["moved"] === true)
    for (const flag of ["again", "key", "key-file", "name"] as const)
      if (values[flag] !== undefined)
        problems.push(`--${flag} stands beside --moved, which keeps credential and name. Give one of the two`);
  if (problems.length > 0) throw new SettingsError(problems.map((message) => ({ path: "command line", message })));
  const file = words[0] === undefined ? null : readSettingsFile(words[0]);
  if (file && file.hub === null)
    throw new SettingsError([{ path: "hub", message: `is not in ${words[0]}, expected { "url": ... }` }]);
  if (values["hub"] === undefined && file === null)
    throw new SettingsError([{ path: "enrol", message: "got no SETTINGS.json and no --hub, expected one of them" }]);
  const { hub, key, name = file?.hub?.name ?? hostname() } = values;
  const given = {
    url: hub ?? file?.hub?.url,
    ...(key !== undefined && { adoptKey: key }),
    ...(values["key-file"] !== undefined && { adoptKeyFile: values["key-file"] }),
    name,
  };
  const settings = readHub(given);
  const adoptKey = settings.adoptKey ?? file?.hub?.adoptKey ?? null;
  const state = typeof values.state === "string" ? values.state : (file?.state ?? hubState(settings.url));
  makeFolder(state);
  if (values["moved"] === true) {
    const unlock = lockFolder(state);
    const identity = await followHub(state, settings.url).finally(unlock);
    return `still ${identity.name}, device:${identity.deviceId}, in ${settings.url}\n`;
  }
  const before = values["again"] === true ? null : await acceptedIdentity(state, settings.url);
  if (before) return `already enrolled as ${before.name}, device:${before.deviceId}. --again enrols this device anew\n`;
  if (adoptKey === null)
    throw new SettingsError([{ path: "--key", message: "got none, expected an adopt key of the hub's page" }]);
  // Lock the folder, which fails while an agent runs: the agent would write its old identity again.
  const unlock = lockFolder(state);
  const { name: called, deviceId, team } = await enrol(state, settings, adoptKey).finally(unlock);
  return `enrolled as ${called} in ${team}, device:${deviceId}. The credential is in ${state}\n`;
}
