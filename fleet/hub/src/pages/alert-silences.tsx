/** Silences: the form that silences one rule or device, and the section about groups, tags and devices. */
import type { Silence } from "../nouns/alert-silence.ts";
import type { Group } from "../nouns/group.ts";
import { Ago } from "./ago.tsx";
import { Breakable, Csrf } from "./layout.tsx";

const LENGTHS = [
  [60, "1 hour"],
  [480, "8 hours"],
  [1440, "1 day"],
  [10_080, "1 week"],
] as const;

interface FormProps {
  readonly action: string;
  readonly csrf: string;
  /** Name of the silenced rule, device, group or tag, for screen readers. */
  readonly what: string;
  /** Value of the field "target", unless the address of the form names the target. */
  readonly target?: string;
  readonly until: number | undefined;
  readonly now: number;
}

export function SilenceForm({ action, csrf, what, target, until, now }: FormProps) {
  if (until === undefined)
    return (
      <form method="post" action={action} class="line">
        <Csrf value={csrf} />
        <Lengths aria-label={`How long ${what} is silent`} />
        <button type="submit" aria-label={`Silence ${what}`}>
          Silence
        </button>
      </form>
    );
  return (
    <form method="post" action={action} class="line">
      <Csrf value={csrf} />
      {target !== undefined && <input type="hidden" name="target" value={target} />}
      <input type="hidden" name="minutes" value="0" />
      <span class="soft">
        Silent, ends <Ago at={until} now={now} />
      </span>
      <button type="submit" aria-label={`End it: the silence of ${what}`}>
        End it
      </button>
    </form>
  );
}

function Lengths(props: { id?: string; "aria-label"?: string }) {
  return (
    <select name="minutes" {...props}>
      {LENGTHS.map(([minutes, text]) => (
        <option value={String(minutes)}>{text}</option>
      ))}
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
  readonly csrf: string;
  readonly now: number;
}

/** Section of the page of alerts: silences of devices, groups and tags. The list of rules shows silences of rules. */
export function SilenceSection({ silences, names, groups, tags, base, csrf, now }: SectionProps) {
  const action = `${base}/silences`;
  const silent = silences.filter(({ kind }) => kind !== "rule");
  if (silent.length + groups.length + tags.length === 0) return null;
  return (
    <>
      <h2>Silences</h2>
      {silent.length > 0 && (
        <ul class="list" aria-label="Silences">
          {silent.map(({ kind, target_id, until }) => {
            const target = `${kind}:${target_id}`;
            const what = `${kind} ${names.get(target) ?? target_id}`;
            return (
              <li>
                <div class="what">
                  <strong>
                    <Breakable text={what} />
                  </strong>
                </div>
                <div class="do">
                  <SilenceForm {...{ action, csrf, what, target, until, now }} />
                </div>
              </li>
            );
          })}
        </ul>
      )}
      <NewSilenceForm {...{ groups, tags, action, csrf }} />
    </>
  );
}

interface NewProps {
  readonly groups: readonly Group[];
  readonly tags: readonly string[];
  readonly action: string;
  readonly csrf: string;
}

/** Form that silences a group or a tag. */
function NewSilenceForm({ groups, tags, action, csrf }: NewProps) {
  const lists = [
    { label: "Groups", rows: groups.map(({ id, name }) => [`group:${id}`, name] as const) },
    { label: "Tags", rows: tags.map((tag) => [`tag:${tag}`, tag] as const) },
  ].filter(({ rows }) => rows.length > 0);
  if (lists.length === 0) return null;
  return (
    <form method="post" action={action} class="line">
      <Csrf value={csrf} />
      <div>
        <label for="silence-target">No messages about devices of</label>
        <select id="silence-target" name="target">
          {lists.map(({ label, rows }) => (
            <optgroup label={label}>
              {rows.map(([value, text]) => (
                <option value={value}>{text}</option>
              ))}
            </optgroup>
          ))}
        </select>
      </div>
      <div>
        <label for="silence-minutes">For</label>
        <Lengths id="silence-minutes" />
      </div>
      <button type="submit">Silence</button>
    </form>
  );
}
