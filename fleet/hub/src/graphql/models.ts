/** Resolvers of model files, and of the bytes that a team uses. */
import { isSha256 } from "../files/files.ts";
import { UserError } from "../core/errors.ts";
import { listModels, removeModelFile, type ModelFile } from "../nouns/model.ts";
import { readModelUse, readStorage, type ModelUse } from "../nouns/model-use.ts";
import { connectionOf, readPage, type PageArguments } from "./connection.ts";
import type { TeamContext } from "./context.ts";
import { iso } from "./times.ts";

function toModel({ values }: TeamContext, file: ModelFile, use: () => Promise<ModelUse>): object {
  return {
    ...{ sha256: file.sha256, size: file.size, name: file.name },
    createdAt: iso(file.created_at),
    isComplete: file.complete_at !== null,
    appIdentifiers: async () => {
      const { apps } = await use();
      values.count(apps.length);
      return apps.map(({ identifier }) => identifier);
    },
    deviceCount: async () => (await use()).devices,
  };
}

/** Fields of `team` in a query. */
export const modelQueries = (context: TeamContext) => ({
  models: async (args: PageArguments) => {
    const { db, team, values } = context;
    const page = readPage(args, /^\d{1,15} [0-9a-f]{64}$/);
    const [createdAt, sha256] = page.after?.split(" ") ?? [];
    const after = sha256 === undefined ? undefined : { createdAt: Number(createdAt), sha256 };
    const rows = await listModels(db, team.id, { unfinished: true, limit: page.limit, after });
    values.count(rows.length);
    // Read the uses of all files on the page with one query, and only if the client asks for the uses of a file.
    let uses: ReturnType<typeof readModelUse> | undefined;
    return connectionOf(
      rows,
      page,
      (file) => `${file.created_at} ${file.sha256}`,
      (file) => toModel(context, file, async () => (await (uses ??= readModelUse(db, team.id))).of(file.sha256)),
    );
  },
  storage: async () => {
    const { db, team, config } = context;
    const bytes = await readStorage(db, team.id);
    return { ...bytes, modelBytesLimit: config.teamModelBytes, snapBytesLimit: config.teamSnapBytes };
  },
});

/** Fields of `team` in a mutation. */
export const modelMutations = (context: TeamContext) => ({
  removeModel: async ({ sha256 }: { sha256: string }) => {
    if (!isSha256(sha256))
      throw new UserError(`sha256: got ${JSON.stringify(sha256.slice(0, 80))}, expected 64 hexadecimal digits`);
    await removeModelFile(context, context.actor, context.team.id, sha256);
    return {};
  },
});
