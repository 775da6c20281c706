/** API keys of the team. Only a key with full access may list and change API keys. */
import type { Toolbox } from "./toolbox.ts";

/**
 * Scope of a key: the part of the API that the key may use. FULL allows everything; a key with FULL has no other scope.
 */
export type ApiKeyScope = "FULL" | "READ" | "DEVICES" | "APPLICATIONS" | "SNAPS";

export interface ApiKey {
  /** Public id: the 12 characters after `hub_`. */
  readonly id: string;
  readonly name: string;
  readonly status: "ACTIVE" | "REVOKED" | "EXPIRED";
  readonly scopes: readonly ApiKeyScope[];
  readonly createdBy: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601; null: the key is valid until it is revoked. */
  readonly expiresAt: string | null;
  /** Time of the last use, which the hub writes once a minute. */
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
  /** Public id of the key that replaces this one. */
  readonly replacedById: string | null;
}

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly ApiKeyScope[];
  /** Days until the key ends, 1 to 365. Default: the key is valid until it is revoked. */
  readonly expiresInDays?: number;
}

/** A new key with its secret. No later answer contains the secret. */
export interface MadeApiKey {
  readonly key: string;
  readonly apiKey: ApiKey;
}

export interface ApiKeyOperations {
  /** Returns all keys, the oldest first. */
  apiKeys(): Promise<ApiKey[]>;
  createApiKey(wanted: NewApiKey): Promise<MadeApiKey>;
  /**
   * Makes a key that replaces another, with the same name, scopes and lifetime. The old key stays valid for
   * `overlapHours`, by default 24.
   */
  rotateApiKey(apiKeyId: string, overlapHours?: number): Promise<MadeApiKey>;
  revokeApiKey(apiKeyId: string): Promise<ApiKey>;
}

const API_KEY = "id name status scopes createdBy createdAt expiresAt lastUsedAt revokedAt replacedById";

export function createApiKeyOperations({ read, change, send }: Toolbox): ApiKeyOperations {
  const made = `key apiKey { ${API_KEY} }`;
  const rotate = send<MadeApiKey>("rotateApiKey", "apiKeyId: ID!, overlapHours: Int! = 24", made);
  return {
    apiKeys: read("apiKeys", "", `{ ${API_KEY} }`),
    createApiKey: send("createApiKey", "name: String!, scopes: [ApiKeyScope!]!, expiresInDays: Int", made),
    rotateApiKey: (apiKeyId, overlapHours) => rotate({ apiKeyId, overlapHours }),
    revokeApiKey: change("revokeApiKey", "apiKeyId: ID!", `apiKey { ${API_KEY} }`),
  };
}
