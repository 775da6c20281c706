/**
 * The readers of config files. A page loads them only if a config file is passed to `createDecoder`, not for typed
 * options.
 */
import { readArchive } from "./nn-archive.ts";
import { readNnConfig } from "./nn-config.ts";

export const fileFormats = { readArchive, readNnConfig } as const;

export type FileFormats = typeof fileFormats;
