/** Parts of the list of devices: filters, counts, rows, and links to other pages of the list. */
import type { Counts, DeviceRow } from "../nouns/device-query.ts";
import type { Group } from "../nouns/group.ts";
import { statusOf, type DeviceState } from "../nouns/status.ts";
import { Ago, countText } from "./ago.tsx";
import { closed, emptyView, isFiltered, MAX_SEARCH, ONLY, queryOf, SILENT, SORTS, type View } from "./device-view.ts";
import { NameForm } from "./name-form.tsx";
import { Csrf } from "./layout.tsx";

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
  readonly csrf: string;
  readonly now: number;
  readonly typed: string;
  /** Id of the device whose form failed. Empty for the form of a new device. */
  readonly failed: string | undefined;
}

type Choice = readonly [value: string, label: string];

function Select(props: { name: string; label: string; value: string; choices: readonly Choice[] }) {
  return (
    <div>
      <label for={`by-${props.name}`}>{props.label}</label>
      <select id={`by-${props.name}`} name={props.name}>
        {props.choices.map(([value, text]) => (
          <option value={value} selected={value === props.value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Search and filters in one GET form, so that the address of the page holds their values. */
export function Filters({ base, view, groups, tags, applications }: ListProps) {
  const isOpen = isFiltered({ ...view, search: "" }) || view.sort !== "";
  return (
    <form method="get" action={base} role="search" class="filters">
      <div class="line">
        <div>
          <label for="q">Search by name or id</label>
          <input id="q" name="q" type="search" maxlength={MAX_SEARCH} autocomplete="off" value={view.search} />
        </div>
        <button type="submit">Search</button>
      </div>
      <details open={isOpen}>
        <summary>Filter and sort</summary>
        <div class="line">
          <Select
            name="status"
            label="Status"
            value={view.status}
            choices={[
              ["", "any"],
              ["online", "online"],
              ["offline", "offline"],
            ]}
          />
          <Select
            name="group"
            label="Group"
            value={view.group}
            choices={[["", "any"], ...groups.map(({ id, name }): Choice => [id, name])]}
          />
          {tags.length > 0 && (
            <Select
              name="tag"
              label="Tag"
              value={view.tag}
              choices={[["", "any"], ...tags.map((tag): Choice => [tag, tag])]}
            />
          )}
          <Select
            name="app"
            label="Application"
            value={view.app}
            choices={[["", "any"], ...applications.map((app): Choice => [app, app])]}
          />
          <Select
            name="silent"
            label="No contact for"
            value={view.silent}
            choices={[["", "any time"], ...Object.entries(SILENT).map(([value, [, text]]): Choice => [value, text])]}
          />
          <Select
            name="only"
            label="Only"
            value={view.only}
            choices={[["", "any"], ...Object.entries(ONLY).map(([value, text]): Choice => [value, text])]}
          />
          <Select
            name="sort"
            label="Order"
            value={view.sort}
            choices={Object.entries(SORTS).map(([value, [, text]]): Choice => [value, text])}
          />
          <button type="submit">Show</button>
        </div>
      </details>
    </form>
  );
}

/** Number of devices in each state. Each number links to the list of these devices. */
export function Tally({ counts, base }: Pick<ListProps, "counts" | "base">) {
  if (counts.total === 0) return <></>;
  const rows: readonly (readonly [number, string, Partial<View>, boolean])[] = [
    [counts.online, "online", { status: "online" }, true],
    [counts.total - counts.online, "offline", { status: "offline" }, true],
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
export function Bulk({ base, view, groups, csrf }: ListProps) {
  return (
    <form id="bulk" method="post" action={`${base}/bulk${queryOf(closed(view))}`} class="line bulk">
      <Csrf value={csrf} />
      <label class="tick all" hidden data-all="device">
        <input type="checkbox" /> All on this page
      </label>
      <div>
        <label for="bulk-group">Ticked devices: group</label>
        <select id="bulk-group" name="group">
          {groups.length === 0 && <option value="">no groups yet</option>}
          {groups.map(({ id, name }) => (
            <option value={id}>{name}</option>
          ))}
        </select>
      </div>
      <button type="submit" name="action" value="add">
        Add to group
      </button>
      <button type="submit" name="action" value="take">
        Take out
      </button>
      <button type="submit" name="action" value="ask">
        Remove
      </button>
    </form>
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
        <a class="button" href={open({ rename: id })} aria-label={`Rename ${name}`}>
          Rename
        </a>
        <a class="button" href={open({ remove: id })} aria-label={`Remove ${name}`}>
          Remove
        </a>
      </div>
    </li>
  );
}

type ItemProps = ListProps & { readonly device: DeviceRow };

const backOf = ({ base, view, device }: ItemProps): string => `${base}${queryOf(closed(view))}#device-${device.id}`;

function RenameItem(props: ItemProps) {
  const { base, view, csrf, device, failed, typed } = props;
  const { id, name } = device;
  return (
    <li id={`device-${id}`} class="open">
      <NameForm
        {...{ csrf, id: "new-name", label: `New name of ${name}`, button: "Save" }}
        action={`${base}/${id}/rename${queryOf(closed(view))}`}
        value={failed === id ? typed : name}
        cancel={backOf(props)}
        isOpened
      />
    </li>
  );
}

function RemoveItem(props: ItemProps) {
  const { base, view, csrf, device } = props;
  const { id, name } = device;
  return (
    <li id={`device-${id}`} class="open">
      <form method="post" action={`${base}/${id}/remove${queryOf(closed(view))}`} class="question">
        <Csrf value={csrf} />
        <p>
          Remove <strong>{name}</strong>? Programs that ask the hub do not get it any more, and its agent is refused.
        </p>
        <button class="danger" type="submit">
          Remove it
        </button>
        <a class="button" href={backOf(props)}>
          Keep it
        </a>
      </form>
    </li>
  );
}
