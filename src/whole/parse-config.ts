/** `parseConfig` in Node, which reads the readers of files when a file comes. config/config.ts documents it. */
import { readBy } from "../config/read.ts";
import type { Config } from "../config/types.ts";
import { laterFetched } from "./later.ts";

export const parseConfig = (json: unknown): Config =>
  readBy(json, {}, () => laterFetched().fileFormats) as Config;
