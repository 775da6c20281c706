/** Typed queries that the tests of several clients send. */
import { initGraphQLTada } from "gql.tada";
import type { introspection } from "./introspection.d.ts";

/** The data that answers `LIST`. */
export interface List {
  team: { devices: { nodes: { id: string; name: string }[] } };
}

export const namesIn = (data: List): string[] => data.team.devices.nodes.map((node) => node.name);

const graphql = initGraphQLTada<{ introspection: introspection }>();

export const typedPage = graphql(`
  query Page($first: Int) {
    team {
      devices(first: $first) {
        nodes {
          id
          name
        }
        pageInfo {
          endCursor
        }
      }
    }
  }
`);
