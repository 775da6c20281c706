/**
 * A cache of parsed and validated documents. Parsing and validation are most of a request's cost, and a backend sends
 * the same few queries all the time. Refused documents are kept too, so that a repeated one is cheap to refuse. The
 * cache is bounded by the number of documents and by their characters. The least recently used document is removed
 * first.
 */
import { GraphQLError, Kind, OperationTypeNode, parse, validate, type DocumentNode, type GraphQLSchema } from "graphql";
import { queryError, withCode } from "./errors.ts";
import { checkLimits, documentLimits } from "../limits/document.ts";

export type Entry =
  | { readonly document: DocumentNode; readonly fields: number; readonly cost: number; readonly errors?: undefined }
  | { readonly errors: readonly GraphQLError[]; readonly cost: number; readonly document?: undefined };

/** A refused document counts as this many more requests, each time that it is sent. */
const REFUSED = 5;
/**
 * A new document counts as one more request per this many fields, once. Validation takes time quadratic in overlapping
 * fields: 500 of them take as long as 50 ordinary requests or more.
 */
const FIELDS_A_REQUEST = 10;

export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #entries = new Map<string, Entry>();
  readonly #maxEntries: number;
  readonly #maxCharacters: number;
  #characters = 0;
  /** Number of documents that reached the parser. Tests limit the work with this number and `validated`. */
  parsed = 0;
  /** Number of documents that reached the standard validation rules. */
  validated = 0;

  constructor(schema: GraphQLSchema, maxEntries = 500, maxCharacters = 2 ** 21) {
    this.#schema = schema;
    this.#maxEntries = maxEntries;
    this.#maxCharacters = maxCharacters;
  }

  get size(): number {
    return this.#entries.size;
  }

  get characters(): number {
    return this.#characters;
  }

  /**
   * Returns the document or its errors. `cost` is the number of additional requests that this use counts as: 0 for a
   * valid document that was seen before.
   */
  get(source: string): Entry {
    const known = this.#entries.get(source);
    if (known !== undefined) {
      this.#entries.delete(source);
      this.#entries.set(source, known);
      return known.errors === undefined ? { ...known, cost: 0 } : known;
    }
    const entry = this.#prepare(source);
    this.#entries.set(source, entry);
    this.#characters += source.length;
    this.#forgetOldest();
    return entry;
  }

  /**
   * Removes the least recently used document. It is the first entry, since a Map iterates in insertion order and `get`
   * inserts a used entry again.
   */
  #forgetOldest(): void {
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#characters <= this.#maxCharacters) return;
      this.#entries.delete(oldest);
      this.#characters -= oldest.length;
    }
  }

  #prepare(source: string): Entry {
    this.parsed++;
    let document: DocumentNode;
    try {
      document = parse(source, { maxTokens: documentLimits.tokens });
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      // graphql-js reports a document with too many tokens as a syntax error.
      const code = /tokens\. Parsing aborted/.test(error.message) ? "query_too_large" : "syntax_error";
      return { errors: [withCode(error, code)], cost: REFUSED };
    }
    const other = document.definitions.find(
      (node) => node.kind === Kind.OPERATION_DEFINITION && node.operation === OperationTypeNode.SUBSCRIPTION,
    );
    if (other !== undefined)
      return {
        errors: [queryError("invalid_query", "got a subscription, expected a query or a mutation")],
        cost: REFUSED,
      };
    const size = checkLimits(document);
    if (Array.isArray(size)) return { errors: size, cost: REFUSED };
    this.validated++;
    const found = validate(this.#schema, document, undefined, { maxErrors: 10 });
    const errors = found.map((error) => withCode(error, "invalid_query"));
    const cost = Math.floor(size.fields / FIELDS_A_REQUEST);
    return errors.length > 0 ? { errors, cost: REFUSED + cost } : { document, fields: size.fields, cost };
  }
}
