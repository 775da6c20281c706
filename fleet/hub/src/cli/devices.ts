/** `boxwright-hub devices` */
import { readFile } from "node:fs/promises";
import { buffer as readStream } from "node:stream/consumers";
import { UserError } from "../core/errors.ts";
import { addDevices, listDevices, removeDevice, renameDevice } from "../nouns/device.ts";
import { countAway, openReturns, RETURN_HOURS } from "../nouns/device-return.ts";
import { changeOf, teamOf, Usage, type Call, type Commands } from "./command.ts";
import { decodeDeviceFile, parseDeviceFile } from "./devicefile.ts";

export const deviceCommands: Commands = {
  "devices list": {
    args: "--team TEAM",
    about: "a team's devices",
    run: async (call) => listDevices(call.db, (await teamOf(call)).id),
  },
  "devices add": {
    args: "--team TEAM --name NAME [--id ID]",
    about: "one device; without --id the hub makes an id",
    run: async (call) => {
      const { db, config, need, get } = call;
      const device = { id: get("id"), name: need("name") };
      return (await addDevices(db, Date.now(), (await teamOf(call)).id, config.maxDevices, [device]))[0];
    },
  },
  "devices import": {
    args: "--team TEAM FILE",
    about:
      'many devices, all or none; FILE: a JSON array or JSON lines of {"name", "id"?}, or one name a line; - reads standard input',
    run: async (call) => {
      const list = parseDeviceFile(decodeDeviceFile(await readInput(call)));
      const team = await teamOf(call);
      const { length } = await addDevices(call.db, Date.now(), team.id, call.config.maxDevices, list);
      return { imported: length };
    },
  },
  "devices rename": {
    args: "--team TEAM --id ID --name NAME",
    about: "a new name for a device",
    run: async (call) => {
      const id = call.need("id");
      return {
        id,
        name: await renameDevice(call.db, await changeOf(call), id, call.need("name")),
      };
    },
  },
  "devices accept": {
    args: "--team TEAM [--hours 24]",
    about: "after a restore: for so many hours, each device that proves itself by its key comes back; 0 ends it",
    run: async (call) => {
      const change = await changeOf(call);
      const until = await openReturns(call.db, change, Number(call.get("hours") ?? RETURN_HOURS));
      return {
        until: until === null ? null : new Date(until).toISOString(),
        away: await countAway(call.db, change.teamId),
      };
    },
  },
  "devices remove": {
    args: "--team TEAM --id ID",
    about: "takes a device away",
    run: async (call) => {
      await removeDevice(call.db, await changeOf(call), call.need("id"));
      return { removed: call.need("id") };
    },
  },
};

async function readInput({ rest }: Call): Promise<Uint8Array> {
  const [file] = rest;
  if (file === undefined || rest.length > 1) throw new Usage(`FILE: got ${rest.length} files, expected 1`);
  if (file === "-") return readStream(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(`FILE: got ${JSON.stringify(file)}, expected a readable file (${reason})`);
  }
}
