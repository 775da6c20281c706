/** Silences: the form that silences one rule or device, and the section about groups, tags and devices. */
import type { Silence } from "../nouns/alert-silence.ts";
import type { Group } from "../nouns/group.ts";
import { Ago } from "./ago.tsx";
import { Options, PostForm, Submit, type Choice } from "./forms.tsx";
import { List, Name } from "./layout.tsx";

const LENGTHS = [
  ["60", "1 hour"],
  ["480", "8 hours"],
  ["1440", "1 day"],
  ["10080", "1 week"],
] as const;

interface FormProps {
  readonly action: string;
  /** Name of the silenced rule, device, group or tag, for screen readers. */
  readonly what: string;
  /** Value of the field "target", unless the address of the form names the target. */
  readonly target?: string;
  readonly until: number | undefined;
  readonly now: number;
}

export function SilenceForm({ action, what, target, until, now }: FormProps) {
  if (until === undefined)
    return (
      <PostForm action={action} class="line">
        <Lengths aria-label={`How long ${what} is silent`} />
        <Submit aria-label={`Silence ${what}`}>Silence</Submit>
      </PostForm>
    );
  const fields = { ...(target !== undefined && { target }), minutes: 0 };
  return (
    <PostForm {...{ action, class: "line", fields }}>
      <span class="soft">
        Silenced, ends <Ago at={until} now={now} />
      </span>
      <Submit aria-label={`End it: the silence of ${what}`}>End it</Submit>
    </PostForm>
  );
}

function Lengths(props: { id?: string; "aria-label"?: string }) {
  return (
    <select name="minutes" {...props}>
      <Options choices={LENGTHS} />
    </select>
  );
}

interface SectionProps {
  readonly silences: readonly Silence[];
  /** Names of silenced devices and groups, by `kind:id`. */
  readonly names: ReadonlyMap<string, string>;
  readonly groups: readonly Group[];
  readonly tags: readonly string[];
  readonly base: string;
  readonly now: number;
}

/** Section of the page of alerts: silences of devices, groups and tags. The list of rules shows silences of rules. */
export function SilenceSection({ silences, names, groups, tags, base, now }: SectionProps) {
  const action = `${base}/silences`;
  const silent = silences.filter(({ kind }) => kind !== "rule");
  if (silent.length + groups.length + tags.length === 0) return null;
  return (
    <>
      <h2>Silences</h2>
      <List label="Silences">
        {silent.map(({ kind, target_id, until }) => {
          const target = `${kind}:${target_id}`;
          const what = `${kind} ${names.get(target) ?? target_id}`;
          return (
            <li>
              <div class="what">
                <Name text={what} />
              </div>
              <div class="do">
                <SilenceForm {...{ action, what, target, until, now }} />
              </div>
            </li>
          );
        })}
      </List>
      <NewSilenceForm {...{ groups, tags, action }} />
    </>
  );
}

interface NewProps {
  readonly groups: readonly Group[];
  readonly tags: readonly string[];
  readonly action: string;
}

/** Form that silences a group or a tag. */
function NewSilenceForm({ groups, tags, action }: NewProps) {
  const lists = [
    { label: "Groups", rows: groups.map(({ id, name }): Choice => [`group:${id}`, name]) },
    { label: "Tags", rows: tags.map((tag): Choice => [`tag:${tag}`, tag]) },
  ].filter(({ rows }) => rows.length > 0);
  if (lists.length === 0) return null;
  return (
    <PostForm action={action} class="line">
      <div>
        <label for="silence-target">No messages about devices of</label>
        <select id="silence-target" name="target">
          {lists.map(({ label, rows }) => (
            <optgroup label={label}>
              <Options choices={rows} />
            </optgroup>
          ))}
        </select>
      </div>
      <div>
        <label for="silence-minutes">For</label>
        <Lengths id="silence-minutes" />
      </div>
      <Submit>Silence</Submit>
    </PostForm>
  );
}
