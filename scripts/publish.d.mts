/** Returns the files of a tarball of npm, by their paths without "package/". */
export declare function readTarball(file: string): Map<string, Buffer>;
/** Returns what is wrong with a packed package. */
export declare function problemsOf(
  files: ReadonlyMap<string, Buffer>,
  place: {
    readonly folder: string;
    readonly repository: string;
    readonly tag: string;
    readonly isTracked: (path: string) => boolean;
  },
): string[];
