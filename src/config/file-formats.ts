/** The readers of config files. A page loads them only if `createDecoder` gets a config file. */
import { readArchive } from "./nn-archive.ts";
import { readNnConfig } from "./nn-config.ts";

export const fileFormats = { readArchive, readNnConfig } as const;

export type FileFormats = typeof fileFormats;
