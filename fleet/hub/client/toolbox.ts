/** Types of the helper functions that all groups of methods use. */

/** A paged list (GraphQL connection) to read. */
export interface Listing {
  readonly field: string;
  /** Field of `team` that contains the list, with arguments. Default: `team` itself. */
  readonly of?: { readonly field: string; readonly args: string };
  /** GraphQL selection of a node. */
  readonly selection: string;
  /** Number of rows per request. The hub refuses an answer of more than 100,000 values. */
  readonly rows: number;
  /** Arguments of the list besides `first` and `after`: `args` holds their GraphQL types, `values` their values. */
  readonly args?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/**
 * Makes the method of one field of `team`. `args` declares the arguments as GraphQL does: "name: String!, id: ID".
 */
type Make<Values extends readonly unknown[]> = <T>(
  field: string,
  args: string,
  selection: string,
) => (...values: Values) => Promise<T>;

/** Functions that read and change the team. */
export interface Toolbox {
  /** Reads one field of `team`. The method takes the values in the order of `args`. */
  readonly read: Make<readonly unknown[]>;
  /** Reads a paged list, page by page. */
  readonly each: <T>(listing: Listing) => AsyncGenerator<T, void, undefined>;
  /** Reads all pages of a list. */
  readonly all: <T>(listing: Listing) => Promise<T[]>;
  /** Sends a mutation, whose arguments are the fields of an object. Returns the whole result. */
  readonly send: Make<readonly [values: object]>;
  /** Sends a mutation with the values in the order of `args`. Returns the first field of the selection. */
  readonly change: Make<readonly unknown[]>;
  /** Sends a mutation, whose arguments are the fields of the objects. Returns the first field of the selection. */
  readonly changeBy: Make<readonly object[]>;
}
