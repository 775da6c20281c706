/** Types of the helper functions that all groups of methods use. */

/** A paged list (GraphQL connection) to read. */
export interface Listing {
  readonly field: string;
  /** Field of `team` that contains the list, with arguments. Default: `team` itself. */
  readonly of?: { readonly field: string; readonly args: Arguments };
  /** GraphQL selection of a node. */
  readonly selection: string;
  /** Number of rows per request. The hub refuses an answer of more than 100,000 values. */
  readonly rows: number;
  /** Arguments of the list besides `first` and `after`: `args` holds their GraphQL types, `values` their values. */
  readonly args?: Arguments;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Arguments of a field by name, with their GraphQL types. */
export type Arguments = Readonly<Record<string, string>>;

/** Functions that read and change the team. */
export interface Toolbox {
  /** Reads one field of `team`. */
  readonly read: <T>(field: string, args: Arguments, selection: string) => (values: object) => Promise<T>;
  /** Reads a paged list, page by page. */
  readonly each: <T>(listing: Listing) => AsyncGenerator<T, void, undefined>;
  /** Reads all pages of a list. */
  readonly all: <T>(listing: Listing) => Promise<T[]>;
  /** Makes a function that sends one mutation of `team` and returns its result. */
  readonly mutation: <T>(field: string, args: Arguments, selection: string) => (values: object) => Promise<T>;
}
