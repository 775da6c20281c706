/** `hub keys` */
import { revokeKey } from "../nouns/apikey.ts";
import { ACTOR, teamOf, type Commands } from "./command.ts";

export const keyCommands: Commands = {
  "keys revoke": {
    usage: "hub keys revoke --team TEAM --key PUBLIC_ID",
    about: "revokes an API key, from the next request on; also while the hub runs",
    values: ["team", "key"],
    run: async (call) => {
      const key = call.need("key");
      const { fresh } = await revokeKey(call.db, Date.now(), ACTOR, (await teamOf(call)).id, key);
      return { revoked: key, before: !fresh };
    },
  },
};
