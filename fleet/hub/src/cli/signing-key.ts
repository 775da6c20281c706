/** `boxwright-hub signing-key` */
import { replaceSigningKey } from "../nouns/signing.ts";
import { ACTOR, type Commands } from "./command.ts";

export const signingKeyCommands: Commands = {
  "signing-key replace": {
    about:
      "replaces the key that signs tokens of devices, also while the hub runs. " +
      "Do so if somebody may have a copy of the database",
    run: async ({ db }) => ({ key: await replaceSigningKey(db, Date.now(), ACTOR) }),
  },
};
