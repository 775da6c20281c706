/**
 * What a document may cost, measured on its syntax before the standard rules run: some of those take time quadratic in
 * what is counted here. Fragments count as often as they are spread, which is what execution would pay.
 */
import { GraphQLError, Kind, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from "graphql";

export interface DocumentLimits {
  readonly tokens: number;
  readonly depth: number;
  readonly fields: number;
  readonly aliases: number;
  readonly directives: number;
}

/** The standard introspection query of graphql-js fits: depth 13, about 100 fields, no aliases. */
export const documentLimits: DocumentLimits = { tokens: 1000, depth: 15, fields: 500, aliases: 20, directives: 20 };

export interface Measure {
  depth: number;
  fields: number;
  aliases: number;
  directives: number;
}

export function measure(document: DocumentNode): Measure | "cycle" {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  // Each fragment is measured once, so spreads of spreads cannot multiply the work of measuring.
  const measured = new Map<string, Measure | "open">();
  let cycle = false;

  function ofFragment(name: string): Measure {
    const known = measured.get(name);
    if (known === "open") {
      cycle = true;
      return { depth: 0, fields: 0, aliases: 0, directives: 0 };
    }
    if (known !== undefined) return known;
    measured.set(name, "open");
    const node = fragments.get(name);
    // A spread of nothing is for the standard rules to name.
    const result = node === undefined ? { depth: 0, fields: 0, aliases: 0, directives: 0 } : ofSelections(node.selectionSet);
    result.directives += node?.directives?.length ?? 0;
    measured.set(name, result);
    return result;
  }

  function ofSelections(set: SelectionSetNode): Measure {
    const total: Measure = { depth: 0, fields: 0, aliases: 0, directives: 0 };
    for (const node of set.selections) {
      total.directives += node.directives?.length ?? 0;
      let inner: Measure | undefined;
      if (node.kind === Kind.FIELD) {
        total.fields++;
        if (node.alias !== undefined) total.aliases++;
        if (node.selectionSet !== undefined) inner = ofSelections(node.selectionSet);
        total.depth = Math.max(total.depth, 1 + (inner?.depth ?? 0));
      } else {
        inner = node.kind === Kind.INLINE_FRAGMENT ? ofSelections(node.selectionSet) : ofFragment(node.name.value);
        total.depth = Math.max(total.depth, inner.depth);
      }
      if (inner !== undefined) {
        total.fields += inner.fields;
        total.aliases += inner.aliases;
        total.directives += inner.directives;
      }
    }
    return total;
  }

  const sum: Measure = { depth: 0, fields: 0, aliases: 0, directives: 0 };
  for (const node of document.definitions) {
    const part =
      node.kind === Kind.OPERATION_DEFINITION
        ? ofSelections(node.selectionSet)
        : node.kind === Kind.FRAGMENT_DEFINITION
          ? // Not counted again where spread: here only what an unused fragment costs to validate.
            { ...ofFragment(node.name.value), fields: 0, aliases: 0 }
          : undefined;
    if (part === undefined) continue;
    sum.depth = Math.max(sum.depth, part.depth);
    sum.fields += part.fields;
    sum.aliases += part.aliases;
    sum.directives += part.directives + ("directives" in node ? (node.directives?.length ?? 0) : 0);
  }
  return cycle ? "cycle" : sum;
}

/** The measure, or why the document is refused. */
export function checkLimits(document: DocumentNode, limits: DocumentLimits = documentLimits): Measure | GraphQLError[] {
  const got = measure(document);
  if (got === "cycle") return [refuse("got a fragment that spreads itself, expected none")];
  const over = (["depth", "fields", "aliases", "directives"] as const).filter((name) => got[name] > limits[name]);
  return over.length === 0 ? got : over.map((name) => refuse(`${name}: got ${got[name]}, expected at most ${limits[name]}`));
}

function refuse(message: string): GraphQLError {
  return new GraphQLError(`Query too large: ${message}.`, { extensions: { code: "QUERY_TOO_LARGE" } });
}
