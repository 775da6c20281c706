/** Parts of the list of devices: filters, counts, rows, and links to other pages of the list. */
import type { Counts, DeviceRow } from "../nouns/device-query.ts";
import type { Group } from "../nouns/group.ts";
import { statusOf, type DeviceState } from "../nouns/status.ts";
import { Ago, countText } from "./ago.tsx";
import { closed, emptyView, isFiltered, MAX_SEARCH, ONLY, queryOf, SILENT, SORTS, type View } from "./device-view.ts";
import { Field, LinkButton, NameForm, PostForm, Question, Select, Submit, type Choice } from "./forms.tsx";

export interface ListProps {
  readonly base: string;
  readonly devices: readonly DeviceRow[];
  readonly states: ReadonlyMap<string, DeviceState>;
  readonly counts: Counts;
  /** Number of devices that match the filters. */
  readonly matches: number;
  readonly pages: number;
  readonly pageSize: number;
  readonly view: View;
  readonly groups: readonly Group[];
  /** All tags that devices of the team have. */
  readonly tags: readonly string[];
  readonly applications: readonly string[];
  readonly now: number;
  readonly typed: string;
  /** Id of the device whose form failed. Empty for the form of a new device. */
  readonly failed: string | undefined;
}

const choicesOf = (table: Readonly<Record<string, readonly [unknown, string]>>): Choice[] =>
  Object.entries(table).map(([value, [, text]]): Choice => [value, text]);

/** Search and filters in one GET form, so that the address of the page holds their values. */
export function Filters({ base, view, groups, tags, applications }: ListProps) {
  const isOpen = isFiltered({ ...view, search: "" }) || view.sort !== "";
  const any: Choice = ["", "any"];
  const selects: readonly (readonly [Exclude<keyof typeof emptyView, "page">, string, readonly Choice[]])[] = [
    ["status", "Status", [any, ["online", "online"], ["offline", "offline"]]],
    ["group", "Group", [any, ...groups.map(({ id, name }): Choice => [id, name])]],
    ["tag", "Tag", [any, ...tags.map((tag): Choice => [tag, tag])]],
    ["app", "Application", [any, ...applications.map((app): Choice => [app, app])]],
    ["silent", "No contact for", [["", "any time"], ...choicesOf(SILENT)]],
    ["only", "Only", [any, ...Object.entries(ONLY)]],
    ["sort", "Order", choicesOf(SORTS)],
  ];
  return (
    <form method="get" action={base} role="search" class="filters">
      <div class="line">
        <Field label="Search by name or id" name="q" type="search" maxlength={MAX_SEARCH} value={view.search} />
        <button type="submit">Search</button>
      </div>
      <details open={isOpen}>
        <summary>Filter and sort</summary>
        <div class="line">
          {selects.map(
            ([name, label, choices]) =>
              (name !== "tag" || tags.length > 0) && (
                <Select {...{ name, label, id: `by-${name}`, value: view[name] }} choices={choices} />
              ),
          )}
          <button type="submit">Show</button>
        </div>
      </details>
    </form>
  );
}

/**
 * Number of devices in each state. Each number links to the list of these devices. A device is in one of the first four
 * states, so that these numbers add up to all devices. The last two numbers are about faults of some of them.
 */
export function Tally({ counts, base }: Pick<ListProps, "counts" | "base">) {
  if (counts.total === 0) return <></>;
  const offline = counts.total - counts.online - counts.fresh - counts.revoked;
  const rows: readonly (readonly [number, string, Partial<View>, boolean])[] = [
    [counts.online, "online", { status: "online" }, true],
    [offline, "offline", { status: "offline", only: "enrolled" }, true],
    [counts.fresh, "never enrolled", { only: "new" }, false],
    [counts.revoked, "revoked", { only: "revoked" }, false],
    [counts.failed, "application failed", { only: "failed" }, false],
    [counts.conflicts, "credential in use twice", { only: "conflict" }, false],
  ];
  return (
    <ul class="tally" aria-label="Devices by state">
      {rows
        .filter(([count, , , always]) => always || count > 0)
        .map(([count, text, part]) => (
          <li>
            <a href={base + queryOf({ ...emptyView, ...part })}>
              <strong>{count.toLocaleString("en")}</strong> {text}
            </a>
          </li>
        ))}
    </ul>
  );
}

export function Count({ counts, matches, view, base, devices, pages, pageSize }: ListProps) {
  if (isFiltered(view))
    return (
      <p class="count">
        {matches.toLocaleString("en")} of {countText(counts.total, "device")} match
        {view.search === "" ? (
          ""
        ) : (
          <>
            {" "}
            <strong>{view.search}</strong>
          </>
        )}
        . <a href={base}>Show all</a>
      </p>
    );
  if (counts.total === 0)
    return (
      <p class="count">
        No devices yet. Make an <a href={base.replace(/devices$/, "adopt-keys")}>adopt key</a> and let a device enrol
        with it, or add one by its name.
      </p>
    );
  if (pages === 1) return <p class="count">{countText(counts.total, "device")}</p>;
  const first = (view.page - 1) * pageSize + 1;
  return (
    <p class="count">
      {countText(counts.total, "device")}, {first.toLocaleString("en")} to{" "}
      {(first + devices.length - 1).toLocaleString("en")} on this page
    </p>
  );
}

export function Pages({ pages, base, view }: ListProps) {
  if (pages === 1) return <></>;
  const { page } = view;
  const link = (to: number, text: string) => (
    <a href={base + queryOf({ ...closed(view), page: to })} rel={to < page ? "prev" : "next"}>
      {text}
    </a>
  );
  return (
    <nav class="pages" aria-label="Pages of the list">
      {page > 1 && link(page - 1, "Previous page")}
      <span>
        Page {page} of {pages}
      </span>
      {page < pages && link(page + 1, "Next page")}
    </nav>
  );
}

/** Actions on all devices whose checkbox is ticked. */
export function Bulk({ base, view, groups }: ListProps) {
  const none: Choice = ["", "no groups yet"];
  const choices = groups.length === 0 ? [none] : groups.map(({ id, name }): Choice => [id, name]);
  return (
    <PostForm id="bulk" action={`${base}/bulk${queryOf(closed(view))}`} class="line bulk">
      <label class="tick all" hidden data-all="device">
        <input type="checkbox" /> All on this page
      </label>
      <Select {...{ id: "bulk-group", name: "group", label: "Ticked devices: group", choices }} />
      {[
        ["add", "Add to group"],
        ["take", "Take out"],
        ["ask", "Remove"],
      ].map(([action, text]) => (
        <Submit name="action" value={action}>
          {text}
        </Submit>
      ))}
    </PostForm>
  );
}

export function Status({ state, now }: { state: DeviceState | undefined; now: number }) {
  if (state === undefined) return <span class="status">never enrolled</span>;
  const text = statusOf(state, now) === "ONLINE" ? "online" : "offline";
  return <span class={`status ${text}`}>{state.revoked_at === null ? text : "revoked"}</span>;
}

/** One row: name, status, application and actions. */
export function DeviceItem({ device, ...props }: ListProps & { readonly device: DeviceRow }) {
  const { base, view, states, now } = props;
  const { id, name } = device;
  const anchor = `device-${id}`;
  if (view.rename === id) return <RenameItem device={device} {...props} />;
  if (view.remove === id) return <RemoveItem device={device} {...props} />;
  const state = states.get(id);
  const open = (part: Partial<View>): string => `${base}${queryOf({ ...closed(view), ...part })}#${anchor}`;
  return (
    <li id={anchor}>
      <label class="tick">
        <input type="checkbox" name="device" value={id} form="bulk" aria-label={`Tick ${name}`} />
      </label>
      <div class="what">
        <a href={`${base}/${encodeURIComponent(id)}`}>
          <strong>{name}</strong>
        </a>
        <code class="soft">{id}</code>
      </div>
      <div class="how">
        <Status state={state} now={now} />
        {state !== undefined && (
          <span class="soft">
            {state.last_contact_at === null ? "no contact yet" : <Ago at={state.last_contact_at} now={now} />}
            {state.application !== null && `, ${state.application}`}
          </span>
        )}
        {state?.application_state === "failed" && <span class="bad">application failed</span>}
        {state !== undefined && state.conflict_at !== null && <span class="bad">credential in use twice</span>}
      </div>
      <div class="do">
        <LinkButton href={open({ rename: id })} label="Rename" name={name} />
        <LinkButton href={open({ remove: id })} label="Remove" name={name} />
      </div>
    </li>
  );
}

type ItemProps = ListProps & { readonly device: DeviceRow };

const backOf = ({ base, view, device }: ItemProps): string => `${base}${queryOf(closed(view))}#device-${device.id}`;

function RenameItem(props: ItemProps) {
  const { base, view, device, failed, typed } = props;
  const { id, name } = device;
  return (
    <li id={`device-${id}`} class="open">
      <NameForm
        {...{ id: "new-name", label: `New name of ${name}`, button: "Save", cancel: backOf(props) }}
        action={`${base}/${id}/rename${queryOf(closed(view))}`}
        value={failed === id ? typed : name}
      />
    </li>
  );
}

function RemoveItem(props: ItemProps) {
  const { base, view, device } = props;
  return (
    <li id={`device-${device.id}`} class="open">
      <Question action={`${base}/${device.id}/remove${queryOf(closed(view))}`} back={backOf(props)}>
        Remove <strong>{device.name}</strong>? Programs that ask the hub do not get it any more, and its agent is
        refused.
      </Question>
    </li>
  );
}
