/** Clients of others against the hub. */
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { cacheExchange, Client, fetchExchange } from "@urql/core";
import { GraphQLClient } from "graphql-request";
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { curlLine } from "../../src/pages/curl.ts";
import { LIST, startHub, temporaryFolder, type TestHub } from "../support/hub.ts";
import { namesIn, typedPage, type List } from "../support/queries.ts";

let hub: TestHub;
beforeAll(async () => void (hub = await startHub({ devices: ["north", "south"] })));
afterAll(() => hub.stop());
const authorization = () => ({ authorization: `Bearer ${hub.key}` });
const endpoint = () => `${hub.url}/graphql`;

describe("clients of others", () => {
  it("graphql-request", async () => {
    const client = new GraphQLClient(endpoint(), { headers: authorization() });
    expect(namesIn(await client.request<List>(LIST))).toEqual(["north", "south"]);
    const page = await client.request(typedPage, { first: 1 });
    expectTypeOf(page.team.devices.nodes[0]!.name).toEqualTypeOf<string>();
    expect(page.team.devices.nodes).toHaveLength(1);
  });

  it("Apollo", async () => {
    const client = new ApolloClient({
      link: new HttpLink({ uri: endpoint(), headers: authorization() }),
      cache: new InMemoryCache(),
    });
    const { data } = await client.query<List>({ query: gql(LIST), fetchPolicy: "network-only" });
    expect(namesIn(data!)).toEqual(["north", "south"]);
    client.stop();
  });

  it("urql, which must be told to use POST", async () => {
    const make = (preferGetMethod: boolean) =>
      new Client({
        url: endpoint(),
        exchanges: [cacheExchange, fetchExchange],
        preferGetMethod,
        fetchOptions: { headers: authorization() },
      });
    const { data } = await make(false).query<List>(LIST, {}).toPromise();
    expect(namesIn(data!)).toEqual(["north", "south"]);
    const refused = await make(true).query<List>(LIST, {}).toPromise();
    expect(refused.error).toBeDefined();
  });

  it("curl, with the line that the page shows", async () => {
    const { stdout } = await promisify(execFile)("sh", ["-c", curlLine(hub.url)], {
      env: { ...process.env, HUB_API_KEY: hub.key },
    });
    expect(namesIn((JSON.parse(stdout) as { data: List }).data)).toEqual(["north", "south"]);
  });

  it("gql.tada, whose committed types are those of the schema as it is", () => {
    const folder = temporaryFolder();
    const fresh = join(folder.path, "introspection.d.ts");
    const root = fileURLToPath(new URL("../../", import.meta.url));
    execFileSync(
      process.execPath,
      [join(root, "../node_modules/gql.tada/bin/cli.js"), "generate-output", "--output", fresh],
      { cwd: root, stdio: "pipe" },
    );
    expect(readFileSync(new URL("../support/introspection.d.ts", import.meta.url), "utf8")).toBe(
      readFileSync(fresh, "utf8"),
    );
    folder.remove();
    expectTypeOf<Parameters<NonNullable<(typeof typedPage)["__apiType"]>>[0]>().toEqualTypeOf<{
      first?: number | null;
    }>();
  });
});
