/** Something that the machine does not have. */
export declare class Missing extends Error {}

/** The path of a runtime's program, fetched if it is not there yet. */
export declare function obtain(name: string): Promise<string>;
