/** Resolvers of API keys. Only the answer to the mutation that makes a key contains the key itself. */
import { newToken } from "../core/ids.ts";
import { createKey, holds, listKeys, revokeKey, rotateKey, type ListedKey, type MadeKey } from "../nouns/apikey.ts";
import { readScopes } from "../nouns/key-scope.ts";
import type { TeamContext } from "./context.ts";
import { isoOrNull } from "./times.ts";
import { given } from "./mutation.ts";

const toApiKey = (key: ListedKey, now: number): object => ({
  ...{ id: key.id, name: key.name, createdBy: key.made_by, replacedById: key.replaced_by },
  status: holds(key, now) ? "ACTIVE" : key.revoked_at === null ? "EXPIRED" : "REVOKED",
  scopes: (key.scopes ?? ["full"]).map((scope) => scope.toUpperCase()),
  createdAt: isoOrNull(key.created_at),
  expiresAt: isoOrNull(key.expires_at),
  lastUsedAt: isoOrNull(key.last_used_at),
  revokedAt: isoOrNull(key.revoked_at),
});

/** Fields of `team` in a query. */
export const apiKeyQueries = ({ db, team, now, values }: TeamContext) => ({
  apiKeys: async () => {
    const keys = await listKeys(db, team.id);
    values.count(keys.length);
    return keys.map((key) => toApiKey(key, now()));
  },
});

interface CreateArguments {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresInDays?: number | null;
}

/** Fields of `team` in a mutation. */
export function apiKeyMutations({ db, now, actor, change, team }: TeamContext) {
  const find = async (id: string): Promise<object> => {
    const key = (await listKeys(db, team.id)).find((listed) => listed.id === id);
    return toApiKey(key!, now());
  };
  // Each call below passes a new token, so that each call makes another key.
  const show = async (made: MadeKey | undefined): Promise<object> => ({ key: made!.key, apiKey: await find(made!.id) });
  const maker = { email: actor };
  return {
    createApiKey: async ({ name, scopes, expiresInDays }: CreateArguments) => {
      const isFull = scopes.length === 1 && scopes[0] === "FULL";
      const wanted = isFull ? null : readScopes(scopes.map((scope) => scope.toLowerCase()));
      return show(
        await createKey(db, now(), maker, team.id, newToken(), { name, scopes: wanted, days: given(expiresInDays) }),
      );
    },
    rotateApiKey: async ({ apiKeyId, overlapHours }: { apiKeyId: string; overlapHours: number }) =>
      show(await rotateKey(db, now(), maker, team.id, newToken(), { id: apiKeyId, overlapHours })),
    revokeApiKey: async ({ apiKeyId }: { apiKeyId: string }) => {
      await revokeKey(db, change(), apiKeyId);
      return { apiKey: await find(apiKeyId) };
    },
  };
}
