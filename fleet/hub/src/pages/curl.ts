/** The curl command line that pages show. */
import { mayRead, type Area, type Scopes } from "../nouns/key-scope.ts";

/** A query of each area. The first one that the key may read is shown. */
const QUERIES: readonly (readonly [Area, string])[] = [
  ["devices", "devices { nodes { id name } }"],
  ["applications", "apps { nodes { id name } }"],
  ["snaps", "snaps { nodes { id name } }"],
];

export function curlLine(baseUrl: string, scopes: Scopes = null): string {
  const [, fields] = QUERIES.find(([area]) => mayRead(scopes, area)) ?? QUERIES[0]!;
  const body = `{"query":"query { team { ${fields} } }"}`;
  return `curl ${baseUrl}/graphql -H "Authorization: Bearer $HUB_API_KEY" -H "Content-Type: application/json" -d '${body}'`;
}
