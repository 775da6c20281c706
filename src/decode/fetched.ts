/** Parts that `createDecoder` loads only for some configs and engines. `createDecoderSync` imports them all. */
import { fileFormats } from "../config/file-formats.ts";
import { tsEngine } from "../engine/ts/index.ts";
import { FinishedRows } from "./finished.ts";

export const fetched = { fileFormats, FinishedRows, tsEngine } as const;

export type Fetched = typeof fetched;
