/** `boxwright-hub keys` */
import { listKeys, revokeKey } from "../nouns/apikey.ts";
import { changeOf, iso, teamOf, type Commands } from "./command.ts";

const isoOrNull = (time: number | null): string | null => (time === null ? null : iso(time));

export const keyCommands: Commands = {
  "keys list": {
    args: "--team TEAM",
    about: "public ids of a team's API keys, with scopes, maker, end and last use (written once a minute)",
    run: async (call) => {
      const keys = await listKeys(call.db, (await teamOf(call)).id);
      return keys.map(({ id, name, scopes, made_by, created_at, expires_at, last_used_at, revoked_at }) => ({
        key: id,
        name,
        scopes: scopes ?? "full",
        madeBy: made_by,
        created: iso(created_at),
        expires: isoOrNull(expires_at),
        lastUsed: isoOrNull(last_used_at),
        revoked: isoOrNull(revoked_at),
      }));
    },
  },
  "keys revoke": {
    args: "--team TEAM --key PUBLIC_ID",
    about: "revokes an API key, from the next request on; also while the hub runs",
    run: async (call) => {
      const key = call.need("key");
      const { fresh } = await revokeKey(call.db, await changeOf(call), key);
      return { revoked: key, before: !fresh };
    },
  },
};
