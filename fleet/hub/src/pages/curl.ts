/** The curl command line that pages show. */

const CURL_QUERY = "query { team { devices { nodes { id name } } } }";

export function curlLine(baseUrl: string): string {
  return `curl ${baseUrl}/graphql -H "Authorization: Bearer $HUB_API_KEY" -H "Content-Type: application/json" -d '{"query":"${CURL_QUERY}"}'`;
}
