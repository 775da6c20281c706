/** Something that the machine does not have. */
export declare class Missing extends Error {}

/** The path of a runtime's program, fetched if it is not there yet. */
export declare function obtain(name: string): Promise<string>;

/** The folder that holds what was fetched. */
export declare const home: string;

/** What obtain() can fetch: packages with exact versions, by name. */
export declare const RUNTIMES: Readonly<Record<string, { readonly packages: readonly string[] }>>;

/** The path of a program in packages that are fetched if they are not there yet. */
export declare function fetchProgram(
  name: string,
  source: { readonly packages: readonly string[]; readonly bin: string },
): Promise<string>;
