/** `boxwright-hub config`: checks the configuration and prints it. */
import type { Config } from "../core/config.ts";

/** Returns the configuration without its secrets. */
export function showConfig(config: Config): Record<string, unknown> {
  return {
    ...config,
    databaseUrl: config.databaseUrl?.replace(/\/\/.*@/, "//***@").replace(/\?.*/, "?***"),
    s3SecretAccessKey: config.s3SecretAccessKey === undefined ? undefined : "***",
    metricsToken: config.metricsToken === undefined ? undefined : "***",
  };
}
