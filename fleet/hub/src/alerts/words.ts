/**
 * Writes the text of messages about alerts. Names in a message come from people and devices, and get into mail headers
 * and terminals.
 */
import { KINDS, type AlertKind } from "../nouns/alert-kind.ts";

/** A message about faults of one rule, in the form for webhooks. */
export interface AlertMessage {
  readonly type: "alert.began" | "alert.ended" | "alert.test";
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    /** One line that sums up the message. */
    readonly title: string;
    readonly team: { readonly id: string; readonly name: string };
    readonly rule: {
      readonly id: string;
      readonly name: string;
      readonly kind: string;
      readonly threshold: number;
    } | null;
    readonly count: number;
    /** Groups of the devices. The group with the most of these devices comes first. */
    readonly groups: readonly { readonly id: string; readonly name: string; readonly count: number }[];
    /** Tags of the devices. The tag with the most of these devices comes first. */
    readonly tags: readonly { readonly name: string; readonly count: number }[];
    /** The first 50 devices, groups, tags or keys with the fault. */
    readonly subjects: readonly { readonly id: string; readonly name: string; readonly beganAt: string }[];
    /** Address of the team's page "Alerts". */
    readonly url: string;
  };
}

/** Returns a text as one line, so that a name cannot add a mail header. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();

interface Told {
  readonly kind: AlertKind;
  readonly ended: boolean;
  readonly count: number;
  readonly name: string;
  readonly groups: AlertMessage["data"]["groups"];
  readonly tags: AlertMessage["data"]["tags"];
}

/** Returns the title: "37 devices of group north are offline". */
export function titleOf({ kind, ended, count, name, groups, tags }: Told): string {
  const { one, several, subject } = KINDS[kind];
  const [group, tag] = [groups, tags].map((sets) => sets.find((set) => set.count === count));
  const place =
    group !== undefined
      ? ` of group ${oneLine(group.name)}`
      : tag !== undefined
        ? ` with the tag ${oneLine(tag.name)}`
        : "";
  const who = count === 1 ? oneLine(name) : `${count} ${subject[1]}${place}`;
  return ended ? `Over: ${who} ${count === 1 ? one : several}` : `${who} ${count === 1 ? one : several}`;
}

/** Largest number of subjects that a mail names. */
const NAMED = 20;

/** Returns the text of a mail. */
export function textOf({ data, timestamp }: AlertMessage): string {
  const { title, team, rule, count, groups, tags, subjects, url } = data;
  const named = subjects.slice(0, NAMED);
  return [
    `${title}.`,
    "",
    `Team: ${oneLine(team.name)}`,
    ...(rule === null ? [] : [`Rule: ${oneLine(rule.name)}`]),
    `Time: ${timestamp}`,
    ...(count > 1 ? groups.map((group) => `Group ${oneLine(group.name)}: ${group.count}`) : []),
    ...(count > 1 ? tags.map((tag) => `Tag ${oneLine(tag.name)}: ${tag.count}`) : []),
    ...(named.length > 0 ? ["", ...named.map(({ name, beganAt }) => `- ${oneLine(name)}, since ${beganAt}`)] : []),
    ...(count > named.length && named.length > 0 ? [`- and ${count - named.length} more`] : []),
    "",
    url,
    "",
  ].join("\n");
}
