/**
 * Limits on a document, measured on its syntax tree before the standard rules run, since some standard rules take
 * quadratic time. A fragment counts once for each spread, as in execution.
 */
import {
  GraphQLError,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

export interface DocumentLimits {
  readonly tokens: number;
  readonly depth: number;
  readonly fields: number;
  readonly aliases: number;
  readonly directives: number;
}

/** The limits accept the standard introspection query of graphql-js: depth 13, about 100 fields, no aliases. */
export const documentLimits: DocumentLimits = { tokens: 1000, depth: 15, fields: 500, aliases: 20, directives: 20 };

type Definition = OperationDefinitionNode | FragmentDefinitionNode;

export interface Measure {
  depth: number;
  fields: number;
  aliases: number;
  directives: number;
}

const nothing = (): Measure => ({ depth: 0, fields: 0, aliases: 0, directives: 0 });

/** Adds `part` to `total`. The depth becomes the larger of both depths. */
function add(total: Measure, part: Measure): void {
  total.depth = Math.max(total.depth, part.depth);
  total.fields += part.fields;
  total.aliases += part.aliases;
  total.directives += part.directives;
}

/**
 * Measures a document. A fragment counts once for each spread. An unused fragment counts once: execution skips it, but
 * each validation rule reads it.
 */
export function measure(document: DocumentNode): Measure | "cycle" {
  const definitions = document.definitions.filter(
    (node) => node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION,
  );
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  // Measure each fragment once, so that nested spreads do not multiply the measuring time.
  const measured = new Map<Definition, Measure | "open">();
  const spread = new Set<Definition>();
  let cycle = false;

  function ofDefinition(node: Definition): Measure {
    const known = measured.get(node);
    if (known === "open") cycle = true;
    if (known !== undefined) return known === "open" ? nothing() : known;
    measured.set(node, "open");
    const total = ofSelections(node.selectionSet);
    total.directives += node.directives?.length ?? 0;
    measured.set(node, total);
    return total;
  }

  function ofSpread(name: string): Measure {
    const node = fragments.get(name);
    // Skip a missing fragment: the standard rules report it.
    if (node === undefined) return nothing();
    spread.add(node);
    return ofDefinition(node);
  }

  function ofSelections(set: SelectionSetNode): Measure {
    const total = nothing();
    for (const node of set.selections) {
      total.directives += node.directives?.length ?? 0;
      if (node.kind === Kind.FRAGMENT_SPREAD) add(total, ofSpread(node.name.value));
      else if (node.kind === Kind.INLINE_FRAGMENT) add(total, ofSelections(node.selectionSet));
      else {
        const inner = node.selectionSet === undefined ? nothing() : ofSelections(node.selectionSet);
        add(total, {
          ...inner,
          depth: inner.depth + 1,
          fields: inner.fields + 1,
          aliases: inner.aliases + (node.alias === undefined ? 0 : 1),
        });
      }
    }
    return total;
  }

  // Measure all definitions first, to learn which fragments are spread.
  for (const node of definitions) ofDefinition(node);
  if (cycle) return "cycle";
  const sum = nothing();
  // Compare nodes, not names: of two fragments with the same name, only one counts as spread, but the rules read both
  // fragments.
  for (const node of definitions) if (!spread.has(node)) add(sum, ofDefinition(node));
  return sum;
}

/** Returns the size of the document, or why the document is refused. */
export function checkLimits(document: DocumentNode, limits: DocumentLimits = documentLimits): Measure | GraphQLError[] {
  const got = measure(document);
  if (got === "cycle") return [refuse("got a fragment that spreads itself, expected none")];
  const over = (["depth", "fields", "aliases", "directives"] as const).filter((name) => got[name] > limits[name]);
  return over.length === 0
    ? got
    : over.map((name) => refuse(`${name}: got ${got[name]}, expected at most ${limits[name]}`));
}

function refuse(message: string): GraphQLError {
  return new GraphQLError(`Query too large: ${message}.`, { extensions: { code: "query_too_large" } });
}
