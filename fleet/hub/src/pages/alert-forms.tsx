/** Forms of the page of alerts: a new rule or channel, and the change of a rule. */
import type { ListedChannel } from "../nouns/alert-channel.ts";
import { isOfDevices, KINDS } from "../nouns/alert-kind.ts";
import type { AlertRule } from "../nouns/alert-rule.ts";
import type { Group } from "../nouns/group.ts";
import { Field, LinkButton, PostForm, Select, Submit, type Choice } from "./forms.tsx";

/** Groups, tags and channels that a rule may name. */
interface Places {
  readonly groups: readonly Group[];
  readonly tags: readonly string[];
  readonly channels: readonly ListedChannel[];
}

interface RuleFormProps extends Places {
  readonly base: string;
}

export function RuleForm({ base, groups, tags, channels }: RuleFormProps) {
  const kinds = Object.entries(KINDS).map(([kind, { label, usual, unit }]): Choice => [
    kind,
    unit === null ? label : `${label} (usually ${usual})`,
  ]);
  return (
    <PostForm action={`${base}/rules`} class="line">
      <Select {...{ id: "rule-kind", name: "kind", label: "New rule", choices: kinds }} />
      <Threshold id="rule-threshold" />
      <PlaceFields {...{ groups, tags }} channels={channels.length > 1 ? channels : []} />
      <Submit kind="main">Watch</Submit>
    </PostForm>
  );
}

function Threshold({ id, value }: { id: string; value?: string }) {
  const label = "N, or empty for the usual";
  return <Field {...{ id, name: "threshold", label, inputmode: "numeric", maxlength: 10, value }} />;
}

/** The selected values of a rule's form. */
type Chosen = Pick<AlertRule, "group_id" | "tag" | "channel_id">;

/**
 * Select fields for group, tag and channel. `id` distinguishes the fields of two forms. A field with only one choice is
 * left out.
 */
function PlaceFields({ groups, tags, channels, chosen, id = "rule" }: Places & { chosen?: Chosen; id?: string }) {
  const named = groups.map((group): Choice => [group.id, group.name]);
  const { group_id = null, tag: chosenTag = null } = chosen ?? {};
  // Keep a deleted group or an unused tag as a choice. Otherwise, saving another field would make the rule watch all
  // devices.
  const isLost = group_id !== null && groups.every((group) => group.id !== group_id);
  const lost: Choice[] = isLost ? [[group_id, "a group that was deleted"]] : [];
  const allTags = chosenTag === null || tags.includes(chosenTag) ? tags : [...tags, chosenTag];
  const lists = [
    { name: "group", label: "Devices", none: "all of the team", rows: [...named, ...lost], value: group_id },
    {
      ...{ name: "tag", label: "With the tag", none: "any or none", value: chosenTag },
      rows: allTags.map((tag): Choice => [tag, tag]),
    },
    {
      ...{ name: "channel", label: "Tells", none: "every channel", value: chosen?.channel_id },
      rows: channels.map((channel): Choice => [channel.id, channel.name]),
    },
  ];
  return (
    <>
      {lists
        .filter(({ rows }) => rows.length > 0)
        .map(({ name, label, none, rows, value }) => (
          <Select {...{ id: `${id}-${name}`, name, label, choices: [["", none], ...rows], value }} />
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
  const { base, rule, hasOwnName, typed, groups, tags, channels } = props;
  const { kind } = rule;
  const places = isOfDevices(kind) ? { groups, tags, channels } : { groups: [], tags: [], channels };
  const chosen =
    typed === undefined
      ? rule
      : { group_id: typed("group") || null, tag: typed("tag") || null, channel_id: typed("channel") || null };
  return (
    <li class="open">
      <PostForm action={`${base}/rules/${rule.id}/change`} class="line">
        <Field
          {...{ id: "changed-name", name: "name", label: "Name, or empty for the usual", autofocus: true }}
          value={typed?.("name") ?? (hasOwnName ? rule.name : "")}
        />
        {KINDS[kind].unit !== null && (
          <Threshold id="changed-threshold" value={typed?.("threshold") ?? String(rule.threshold)} />
        )}
        <PlaceFields {...{ ...places, chosen, id: "changed" }} />
        <Submit kind="main">Save</Submit>
        <LinkButton href={base} label="Cancel" />
      </PostForm>
    </li>
  );
}

interface ChannelFormProps {
  readonly base: string;
  readonly hasMail: boolean;
  /** Returns the text that was typed before an error; undefined for an empty form. */
  readonly typed: ((field: string) => string) | undefined;
}

export function ChannelForm({ base, hasMail, typed }: ChannelFormProps) {
  const address = hasMail ? "Webhook (https://...) or e-mail address" : "Webhook (https://...)";
  return (
    <PostForm action={`${base}/channels`} class="line">
      <Field
        {...{ id: "channel-name", name: "name", label: "Name of the new channel", required: true }}
        value={typed?.("name")}
      />
      <Field
        {...{ id: "channel-address", name: "address", label: address, maxlength: 500, required: true }}
        value={typed?.("address")}
      />
      <Submit>Add channel</Submit>
    </PostForm>
  );
}
