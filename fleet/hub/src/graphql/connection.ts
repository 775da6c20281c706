/**
 * Pages of connections: `first` and `after`. Reads one row more than requested: if this row exists, there is a next
 * page.
 */
import { queryError } from "./errors.ts";

export interface PageArguments {
  readonly first?: number | null;
  readonly after?: string | null;
}

export interface Page {
  /** Rows to read: one more than the page has. */
  readonly limit: number;
  /** Decoded cursor. Undefined for the first page. */
  readonly after: string | undefined;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

/** Rows of a page without `first`, and the largest allowed `first`. */
const ROWS = 50;
const MAX_ROWS = 200;

/** Reads the arguments of a page. `form` is the pattern that a decoded cursor of this connection must match. */
export function readPage({ first, after }: PageArguments, form: RegExp): Page {
  const rows = first ?? ROWS;
  if (rows < 1 || rows > MAX_ROWS) throw queryError("invalid_input", `first: got ${rows}, expected 1 to ${MAX_ROWS}`);
  return { limit: rows + 1, after: after === undefined || after === null ? undefined : decode(after, form) };
}

export interface Edge {
  readonly node: object;
  readonly cursor: string;
}

/** A page for a resolver: `nodes`, `edges` and `pageInfo`. */
export interface NodePage {
  readonly nodes: readonly object[];
  readonly edges: readonly Edge[];
  readonly pageInfo: PageInfo;
}

/** Makes a page from rows. Removes the extra row, and states whether there is a next page. */
export function connectionOf<T>(
  rows: readonly T[],
  { limit }: Page,
  cursorOf: (row: T) => string,
  toNode: (row: T) => object,
): NodePage {
  const hasNextPage = rows.length >= limit;
  const edges = rows.slice(0, limit - 1).map((row) => ({ node: toNode(row), cursor: encode(cursorOf(row)) }));
  const nodes = edges.map(({ node }) => node);
  return { nodes, edges, pageInfo: { hasNextPage, endCursor: edges.at(-1)?.cursor ?? null } };
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function decode(cursor: string, form: RegExp): string {
  const text = Buffer.from(cursor, "base64url").toString();
  if (form.test(text) && encode(text) === cursor) return text;
  throw queryError(
    "invalid_input",
    `after: got ${JSON.stringify(cursor.slice(0, 80))}, expected an endCursor of an earlier answer`,
  );
}
