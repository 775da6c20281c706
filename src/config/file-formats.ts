/** The readers of config files. A page fetches them when `createDecoder` is given a file, and not for typed options. */
import { readArchive } from "./nn-archive.ts";
import { readNnConfig } from "./nn-config.ts";

export const fileFormats = { readArchive, readNnConfig } as const;

export type FileFormats = typeof fileFormats;
