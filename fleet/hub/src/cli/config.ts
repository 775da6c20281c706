/** `boxwright-hub config`: checks the configuration and prints it. */
import type { Config } from "../core/config.ts";

const SECRETS = ["metricsToken", "oidcClientSecret", "s3SecretAccessKey"] as const;
/** Addresses that may hold a password. */
const ADDRESSES = ["databaseUrl", "smtpUrl"] as const;

/** Returns the configuration without its secrets. */
export function showConfig(config: Config): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...config };
  for (const name of SECRETS) if (config[name] !== undefined) shown[name] = "***";
  for (const name of ADDRESSES) shown[name] = config[name]?.replace(/\/\/.*@/, "//***@").replace(/\?.*/, "?***");
  return shown;
}
