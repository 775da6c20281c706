/** `hub signing-key` */
import { replaceSigningKey } from "../nouns/signing.ts";
import { ACTOR, type Commands } from "./command.ts";

export const signingKeyCommands: Commands = {
  "signing-key replace": {
    usage: "hub signing-key replace",
    about:
      "makes a new key for tokens of devices, for example after a copy of the database got lost; also while it runs",
    run: async ({ db }) => ({ key: await replaceSigningKey(db, Date.now(), ACTOR) }),
  },
};
