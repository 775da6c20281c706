/** Has `parseConfig` for Node, which loads the readers of files when it is given a file. See config/config.ts. */
import { readBy } from "../config/read.ts";
import type { Config } from "../config/types.ts";
import { laterFetched } from "./later.ts";

export const parseConfig = (json: unknown): Config =>
  readBy(json, {}, () => laterFetched().fileFormats) as Config;
