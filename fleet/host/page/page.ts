/** The live page: shows the host's events in one card for each camera, or on the page of one camera. */
import { type Card, createCard } from "./card.ts";
import { createSearch } from "./search.ts";
import type { Camera, State } from "./types.ts";
import { createView } from "./view.ts";
import { duration, listOf } from "./words.ts";

const find = (id: string): HTMLElement => document.getElementById(id)!;
const [fleet, totals, state] = [find("fleet"), find("totals"), find("state")];
const [main, list, none] = [find("main"), find("cameras"), find("none")];
const filter = find("filter") as HTMLInputElement;
const cards = new Map<string, Card>();
/** Names that devices have in their hub, by source. */
const names = new Map<string, string>();

// The address selects the view. `/?source=device:ID` shows the cameras of a device. With `subject`, the address shows a
// single camera. The hub's page shows this view in a frame, without the head of the page.
const address = new URLSearchParams(location.search);
const [source, subject] = [address.get("source"), address.get("subject")];
const at = Date.parse(address.get("at") ?? "");
const view =
  source === null || subject === null
    ? null
    : createView({
        place: { source, subject },
        at: Number.isNaN(at) ? null : at,
        label: address.get("label") ?? "",
      });
const search = view ? null : createSearch(source === null ? {} : { source }, (one) => names.get(one) ?? null);
document.body.classList.toggle("framed", address.has("framed"));
find("here").textContent = location.origin;
if (source !== null) {
  document.title = `${subject || source} on boxwright host`;
  find("device").textContent = source;
  find("one").hidden = view !== null;
}
main.append((view ?? search!).element);
// Hide the search until there is a camera to search.
if (search) search.element.hidden = true;
void search?.refresh();

/** Shows the name of the only device beside its id. */
function showName(name: string): void {
  document.title = `${name} on boxwright host`;
  find("device").textContent = `${name} (${source})`;
}
const isShown = (given: Camera): boolean =>
  source === null || given.source === source || given.source.startsWith(`${source}/`);

function showTotals({ fleet: all, totals: t }: State): void {
  fleet.replaceChildren(...listOf({ cameras: all.cameras, frames: all.frames, detections: all.detections }));
  const { decodeP50, decodeP99 } = t;
  totals.replaceChildren(
    ...listOf({
      received: t["received"] ?? 0,
      stored: t["stored"] ?? 0,
      duplicates: t["duplicates"] ?? 0,
      refused: t["refused"] ?? 0,
      dropped: t["dropped"] ?? 0,
      // If devices send detections, the host decodes nothing.
      ...(decodeP50 == null || decodeP99 == null
        ? { decoding: "nothing decoded here so far" }
        : { "half of all decodes within": duration(decodeP50), "99 of 100 within": duration(decodeP99) }),
    }),
  );
}

function show(given: State): void {
  showTotals(given);
  const before = names.size;
  for (const { source: one, name } of given.cameras) if (name !== null) names.set(one, name);
  if (names.size > before) void search?.refresh();
  if (view)
    return given.cameras
      .filter((one) => one.source === source && one.subject === subject)
      .forEach((one) => view.show(one));
  let isNew = false;
  for (const camera of given.cameras.filter(isShown)) {
    let card = cards.get(camera.key);
    if (!card) {
      cards.set(camera.key, (card = createCard()));
      isNew = true;
    }
    card.show(camera);
    if (camera.source === source && camera.name !== null) showName(camera.name);
  }
  if (isNew) sort();
  none.hidden = cards.size > 0;
  search!.element.hidden = cards.size === 0;
  // Hide the filter for a single camera.
  find("filtering").hidden = cards.size < 2;
}

/** Sorts the cards by name, and hides those that do not match the filter. */
function sort(): void {
  const order = new Intl.Collator(undefined, { numeric: true });
  const sorted = [...cards.values()].sort((a, b) => order.compare(a.name, b.name));
  list.append(...sorted.map(({ element }) => element));
  hideOthers();
}

function hideOthers(): void {
  const wanted = filter.value.trim().toLowerCase();
  for (const card of cards.values()) card.element.hidden = !card.name.toLowerCase().includes(wanted);
}

filter.addEventListener("input", hideOthers);
setInterval(() => cards.forEach((card) => card.age()), 1000);

const events = new EventSource("/events");
/** Shows the state of the connection to the host. */
function tell(text: string, isAway: boolean): void {
  if (state.textContent !== text) state.textContent = text;
  document.body.classList.toggle("away", isAway);
  document.body.classList.toggle("live", !isAway);
}
events.addEventListener("open", () => tell("live", false));
// Only report the loss: the browser reconnects by itself.
events.addEventListener("error", () => tell("The host is away. This page shows what it had, and tries again.", true));
events.addEventListener("state", (event) => show(JSON.parse((event as MessageEvent<string>).data) as State));
