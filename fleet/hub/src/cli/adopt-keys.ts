/** `boxwright-hub adopt-keys` */
import { newToken } from "../core/ids.ts";
import { createAdoptKey, listAdoptKeys, revokeAdoptKey } from "../nouns/adoptkey.ts";
import { changeOf, iso, teamOf, type Commands } from "./command.ts";

const DAYS = 7;

export const adoptKeyCommands: Commands = {
  "adopt-keys create": {
    args: "--team TEAM --name NAME [--days N] [--devices N] [--device ID]",
    about:
      "a key with which devices enrol; by default for 7 days and one device. " +
      "With --device, that device alone enrols, and keeps its id and name",
    run: async (call) => {
      const { db, need, get } = call;
      const wanted = {
        name: need("name"),
        days: Number(get("days") ?? DAYS),
        devices: Number(get("devices") ?? 1),
        groupIds: [],
        deviceId: get("device"),
      };
      const made = await createAdoptKey(db, await changeOf(call), newToken(), wanted);
      return { id: made!.id, key: made!.key, expires: iso(made!.expires_at) };
    },
  },
  "adopt-keys list": {
    args: "--team TEAM",
    about: "a team's adopt keys, without the keys themselves",
    run: async (call) => listAdoptKeys(call.db, (await teamOf(call)).id),
  },
  "adopt-keys revoke": {
    args: "--team TEAM --key PUBLIC_ID",
    about: "ends an adopt key; devices that enrolled with it are not touched",
    run: async (call) => {
      const { name } = await revokeAdoptKey(call.db, await changeOf(call), call.need("key"));
      return { revoked: call.need("key"), name };
    },
  },
};
