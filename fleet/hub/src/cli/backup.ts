/** `boxwright-hub backup`, `boxwright-hub restore` */
import { backup } from "../backup/dump.ts";
import { restore } from "../backup/restore.ts";
import { iso, type Call, type Commands } from "./command.ts";

export const backupCommands: Commands = {
  backup: {
    args: "--out FILE",
    about: "writes FILE (gzipped JSON lines) while the hub runs; the result names what is left out",
    run: async ({ db, need }) => ({ file: need("out"), ...(await backup(db, Date.now(), need("out"))) }),
  },
  restore: {
    args: "--from FILE [--replace]",
    about:
      "fills an empty database from a backup; --replace throws away what is there, but access that was taken away since stays away",
    run: runRestore,
  },
};

async function runRestore({ db, need, has, warn }: Call): Promise<unknown> {
  const { taken, knowsSince, ...result } = await restore(db, Date.now(), need("from"), has("replace"));
  const { inForce, teamsWithoutAdmin, missingModels } = result;
  if (!knowsSince && inForce.keys + inForce.users > 0)
    warn(
      `this database does not know what happened after the backup of ${iso(taken)}: whatever was taken away since is in force again, ` +
        `among ${inForce.keys} API keys and ${inForce.users} accounts with their passwords of then; ` +
        "revoke and remove it again (boxwright-hub keys revoke, boxwright-hub users remove)",
    );
  if (teamsWithoutAdmin.length > 0)
    warn(
      `the administrators of ${teamsWithoutAdmin.join(", ")} in the backup were removed or demoted since: ` +
        "invite one (boxwright-hub users invite --role admin), or name one (boxwright-hub users role)",
    );
  if (missingModels.length > 0)
    warn(
      `versions of applications name ${missingModels.length} model files that the hub does not have: ` +
        `send them again (PUT /models/SHA256); ${missingModels.join(", ")}`,
    );
  return { backup: iso(taken), ...result };
}
