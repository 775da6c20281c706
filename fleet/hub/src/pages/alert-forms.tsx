/** Forms of the page of alerts: a new rule or channel, and the change of a rule. */
import type { ListedChannel } from "../nouns/alert-channel.ts";
import { isOfDevices, KINDS } from "../nouns/alert-kind.ts";
import type { AlertRule } from "../nouns/alert-rule.ts";
import type { Group } from "../nouns/group.ts";
import { Csrf } from "./layout.tsx";

/** Groups, tags and channels that a rule may name. */
interface Places {
  readonly groups: readonly Group[];
  readonly tags: readonly string[];
  readonly channels: readonly ListedChannel[];
}

interface RuleFormProps extends Places {
  readonly base: string;
  readonly csrf: string;
}

export function RuleForm({ base, csrf, groups, tags, channels }: RuleFormProps) {
  return (
    <form method="post" action={`${base}/rules`} class="line">
      <Csrf value={csrf} />
      <div>
        <label for="rule-kind">New rule</label>
        <select id="rule-kind" name="kind">
          {Object.entries(KINDS).map(([kind, { label, usual, unit }]) => (
            <option value={kind}>
              {label}
              {unit !== null && ` (usually ${usual})`}
            </option>
          ))}
        </select>
      </div>
      <Threshold id="rule-threshold" />
      <PlaceFields {...{ groups, tags }} channels={channels.length > 1 ? channels : []} />
      <button class="main" type="submit">
        Watch
      </button>
    </form>
  );
}

function Threshold({ id, value }: { id: string; value?: string }) {
  return (
    <div>
      <label for={id}>N, or empty for the usual</label>
      <input id={id} name="threshold" inputmode="numeric" maxlength={10} autocomplete="off" value={value} />
    </div>
  );
}

/** The selected values of a rule's form. */
type Chosen = Pick<AlertRule, "group_id" | "tag" | "channel_id">;

/**
 * Select fields for group, tag and channel. `id` distinguishes the fields of two forms. A field with only one choice is
 * left out.
 */
function PlaceFields({ groups, tags, channels, chosen, id = "rule" }: Places & { chosen?: Chosen; id?: string }) {
  const named = groups.map((group) => [group.id, group.name] as const);
  const { group_id = null, tag: chosenTag = null } = chosen ?? {};
  // Keep a deleted group or an unused tag as a choice. Otherwise, saving another field would make the rule watch all
  // devices.
  const isLost = group_id !== null && groups.every((group) => group.id !== group_id);
  const lost = isLost ? [[group_id, "a group that was deleted"] as const] : [];
  const allTags = chosenTag === null || tags.includes(chosenTag) ? tags : [...tags, chosenTag];
  const lists = [
    { name: "group", label: "Devices", none: "all of the team", rows: [...named, ...lost], value: group_id },
    {
      ...{ name: "tag", label: "With the tag", none: "any or none", value: chosenTag },
      rows: allTags.map((tag) => [tag, tag] as const),
    },
    {
      ...{ name: "channel", label: "Tells", none: "every channel", value: chosen?.channel_id },
      rows: channels.map((channel) => [channel.id, channel.name] as const),
    },
  ];
  return (
    <>
      {lists
        .filter(({ rows }) => rows.length > 0)
        .map(({ name, label, none, rows, value }) => (
          <div>
            <label for={`${id}-${name}`}>{label}</label>
            <select id={`${id}-${name}`} name={name}>
              <option value="">{none}</option>
              {rows.map(([row, text]) => (
                <option value={row} selected={row === value}>
                  {text}
                </option>
              ))}
            </select>
          </div>
        ))}
    </>
  );
}

interface ChangeFormProps extends RuleFormProps {
  readonly rule: AlertRule;
  /** False if the name was made from kind and threshold. The form then leaves the field empty. */
  readonly hasOwnName: boolean;
  /** Returns the text that was typed before an error; undefined to show the rule as it is. */
  readonly typed: ((field: string) => string) | undefined;
}

/** Form that changes a rule. It takes the place of the rule in the list, and starts with the rule's values. */
export function RuleChangeForm(props: ChangeFormProps) {
  const { base, csrf, rule, hasOwnName, typed, groups, tags, channels } = props;
  const { kind } = rule;
  const places = isOfDevices(kind) ? { groups, tags, channels } : { groups: [], tags: [], channels };
  const chosen =
    typed === undefined
      ? rule
      : { group_id: typed("group") || null, tag: typed("tag") || null, channel_id: typed("channel") || null };
  return (
    <li class="open">
      <form method="post" action={`${base}/rules/${rule.id}/change`} class="line">
        <Csrf value={csrf} />
        <div>
          <label for="changed-name">Name, or empty for the usual</label>
          <input
            {...{ id: "changed-name", name: "name", maxlength: 100, autocomplete: "off", autofocus: true }}
            value={typed?.("name") ?? (hasOwnName ? rule.name : "")}
          />
        </div>
        {KINDS[kind].unit !== null && (
          <Threshold id="changed-threshold" value={typed?.("threshold") ?? String(rule.threshold)} />
        )}
        <PlaceFields {...{ ...places, chosen, id: "changed" }} />
        <button class="main" type="submit">
          Save
        </button>
        <a class="button" href={base}>
          Cancel
        </a>
      </form>
    </li>
  );
}

export function ChannelForm({ base, csrf, hasMail }: { base: string; csrf: string; hasMail: boolean }) {
  return (
    <form method="post" action={`${base}/channels`} class="line">
      <Csrf value={csrf} />
      <div>
        <label for="channel-name">Name of the new channel</label>
        <input id="channel-name" name="name" required maxlength={100} autocomplete="off" />
      </div>
      <div>
        <label for="channel-address">
          {hasMail ? "Webhook (https://...) or e-mail address" : "Webhook (https://...)"}
        </label>
        <input id="channel-address" name="address" required maxlength={500} autocomplete="off" />
      </div>
      <button type="submit">Add channel</button>
    </form>
  );
}
