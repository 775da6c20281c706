import { FAMILIES } from "../core/families.ts";
import { familyTyped } from "../core/family-names.ts";
import type { Family } from "../core/family.ts";
import { COUNT, type Rule, nameComplaint, oneOf, valueComplaint } from "../core/options.ts";
import { otherNameOf } from "../core/other-names.ts";
import { RULE_SETS, type RuleSet, type Rules } from "../core/rules.ts";
import { show } from "../core/tensor.ts";
import { type FieldReader, TEXTS, isText, isWhole } from "./fields.ts";
import type { Roles } from "./types.ts";

/** Reads the option `family`. For an unknown name, the error suggests a family. */
export function readFamily(r: FieldReader): Family | null {
  const { family } = r.json;
  const rule = oneOf(FAMILIES);
  const meant = isText(family) && !FAMILIES.includes(family as Family) ? familyMeant(family) : null;
  return r.take("family", [meant ? `${meant}, or ${rule[0]}` : rule[0], rule[1]]);
}

/** Returns error text that suggests the family closest to an unknown name, `null` if none is close. */
function familyMeant(name: string): string | null {
  const other = otherNameOf(name);
  if (other)
    return `"${other.family}"${other.options ? ` with ${other.options}` : ""} (${other.name} ${other.why})`;
  const typed = familyTyped(name);
  return typed && `"${typed}"`;
}

/** A named set of rules, with single rules that override it. */
export interface StatedRules {
  readonly set: RuleSet | null;
  readonly rules: Partial<Rules>;
}

/* @__NO_SIDE_EFFECTS__ */
const among = (...values: unknown[]): Rule<unknown> => [
  values.map((v) => show(v)).join(" or "),
  (x) => values.includes(x),
];
/** Values that each rule may have. */
const RULES: { readonly [R in keyof Rules]: Rule<unknown> } = {
  score: among("product", "class"),
  gate: among(">", ">="),
  suppress: among("class", "all", "none"),
  iouGate: among(">", ">="),
  pixelOffset: among(0, 1),
  clamp: among("none", "before", "after", "centre"),
  multiLabel: among(true, false),
  maxCandidates: ["a whole number", isWhole],
  maxDetections: ["a positive whole number", (x) => COUNT[1](x)],
  countBackground: among(true, false),
};

/** Reads the option `rules`: the name of a set of rules, or an object of single rules, which may also name a set. */
export function readRules(r: FieldReader): StatedRules | null {
  const sets = oneOf(Object.keys(RULE_SETS) as RuleSet[]);
  if (!r.has("rules")) return null;
  if (isText(r.json.rules)) return { set: r.take("rules", sets), rules: {} };
  const c = r.object("rules");
  const { set, ...rules } = c.json;
  const known = Object.keys(RULES);
  for (const [name, value] of Object.entries(rules)) {
    // Look up only known names: "constructor" is inherited by every object.
    const rule = known.includes(name) ? RULES[name as keyof Rules] : null;
    const complaint = nameComplaint(name, known) ?? valueComplaint(value, rule!);
    if (complaint) c.report(name, ...complaint);
  }
  return { set: c.take("set", sets, set), rules };
}

/** Reads the option `priors`: four or eight numbers for each prior box. */
export function readPriors(r: FieldReader): Float32Array | null {
  const x = r.take<ArrayLike<number>>("priors", [
    "a Float32Array of four numbers a box",
    (v) => (ArrayBuffer.isView(v) && !(v instanceof DataView)) || Array.isArray(v),
  ]);
  if (!x) return null;
  for (let i = 0; i < x.length; i++) {
    // Report only the first wrong number, since there may be thousands.
    if (typeof x[i] !== "number" || !Number.isFinite(Math.fround(x[i]))) {
      r.reportValue(`priors[${i}]`, "a finite number", x[i]);
      return null;
    }
  }
  if (x.length === 0 || x.length % 4 !== 0)
    r.report("priors", `${x.length} numbers`, "four for each box (or eight, with the variances after them)");
  // Copy the array, since the caller may overwrite it before the plan reads the priors, at the latest at the first
  // frame.
  return new Float32Array(x);
}

/** Names of all roles. The value is true if several outputs may have the role. */
const ROLES: { readonly [R in keyof Roles]-?: boolean } = {
  boxes: true,
  scores: true,
  objectness: true,
  classIds: false,
  priors: false,
  count: false,
  keypoints: true,
  coefficients: true,
  prototypes: false,
  masks: false,
  angles: true,
};
export const ROLE_NAMES = /* @__PURE__ */ Object.keys(ROLES);

/** Reads the option `roles`: the outputs of each role. */
export function readRoles(r: FieldReader): Roles | null {
  if (!r.has("roles")) return null;
  const roles = r.object("roles");
  for (const [role, output] of Object.entries(roles.json)) {
    const complaint = nameComplaint(role, ROLE_NAMES);
    if (complaint) roles.report(role, ...complaint);
    else if (!isText(output) && !(ROLES[role as keyof Roles] && TEXTS[1](output)))
      roles.reportValue(role, "an output's name, or names");
  }
  return roles.json as Roles;
}
