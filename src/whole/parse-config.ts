/** Contains `parseConfig` for Node. Loads the readers of config files only if one is given. See config/config.ts. */
import { readBy } from "../config/read.ts";
import type { Config } from "../config/types.ts";
import { laterFetched } from "./later.ts";

export const parseConfig = (json: unknown): Config =>
  readBy(json, {}, () => laterFetched().fileFormats) as Config;
