/** What the groups of methods are made with. */

/** A connection to read. */
export interface Listing {
  readonly field: string;
  /** The field of `team` that has the connection, with its arguments; by default `team` itself. */
  readonly of?: { readonly field: string; readonly args: Arguments };
  /** Selection of a node. */
  readonly selection: string;
  /** Rows of one request. The hub refuses an answer of more than 100,000 values. */
  readonly rows: number;
  /** Further arguments: their GraphQL types, and their values. */
  readonly args?: Arguments;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Arguments of a field by name, with their GraphQL types. */
export type Arguments = Readonly<Record<string, string>>;

/** Reads and changes the team. */
export interface Toolbox {
  /** Reads one field of `team`. */
  readonly read: <T>(field: string, args: Arguments, selection: string) => (values: object) => Promise<T>;
  /** Reads the pages of a connection one after the other. */
  readonly each: <T>(listing: Listing) => AsyncGenerator<T, void, undefined>;
  /** Reads all pages of a connection. */
  readonly all: <T>(listing: Listing) => Promise<T[]>;
  /** Makes a function that sends one mutation of `team` and returns its result. */
  readonly mutation: <T>(field: string, args: Arguments, selection: string) => (values: object) => Promise<T>;
}
