/** Reads typed options, the alternative to a config file. */
import { RULE_SETS } from "../core/rules.ts";
import { FAMILIES } from "../core/families.ts";
import { readAnchors } from "./anchors.ts";
import { typedDefaults } from "./defaults.ts";
import type { FieldReader } from "./fields.ts";
import { CALL_OPTIONS, settingNames } from "./options.ts";
import { overlay, readSettings } from "./settings.ts";
import type { Config } from "./types.ts";

/** Returns the config of typed options. Defaults are those of Ultralytics. */
export function readTypedOptions(r: FieldReader): Config {
  const config = overlay(r, typedDefaults(), readSettings(r));
  r.reportMisspelt(settingNames());
  for (const key of Object.keys(CALL_OPTIONS))
    if (r.has(key))
      r.report(key, "it among what describes the network", "it in the second argument of createDecoder");
  for (const rule of ["set", ...Object.keys(RULE_SETS.ultralytics)])
    if (r.has(rule) && !settingNames().includes(rule))
      r.report(rule, "it beside rules", `rules: {${rule}: ...}, which holds the rules`);
  if (!r.has("family")) r.reportMissing("family", `one of ${FAMILIES.join(", ")}`);
  return { ...config, anchorSets: readAnchors(r, config) };
}
