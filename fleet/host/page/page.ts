/** The live page: listens to the host and keeps one card for each camera. */
import { type Card, createCard } from "./card.ts";
import type { Camera, State } from "./types.ts";
import { listOf, duration } from "./words.ts";

const find = (id: string): HTMLElement => document.getElementById(id)!;
const [fleet, totals, state] = [find("fleet"), find("totals"), find("state")];
const [main, none, filter] = [find("cameras"), find("none"), find("filter") as HTMLInputElement];
const cards = new Map<string, Card>();

// The page of one device: `/?source=device:ID` shows the cameras of that source, and of those below it. A hub shows it
// in a frame of its own, without the head of the page.
const address = new URLSearchParams(location.search);
const source = address.get("source");
document.body.classList.toggle("framed", address.has("framed"));
if (source !== null) {
  document.title = `${source} on boxwright host`;
  find("device").textContent = source;
  find("one").hidden = false;
}
/** Shows the name of the one device beside its id. */
function showName(name: string): void {
  document.title = `${name} on boxwright host`;
  find("device").textContent = `${name} (${source})`;
}
const isShown = (given: Camera): boolean =>
  source === null || given.source === source || given.source.startsWith(`${source}/`);

function showTotals({ fleet: all, totals: t }: State): void {
  fleet.replaceChildren(...listOf({ cameras: all.cameras, frames: all.frames, detections: all.detections }));
  const time = (value: number | null | undefined): string => (value == null ? "none" : duration(value));
  totals.replaceChildren(
    ...listOf({
      received: t["received"] ?? 0,
      stored: t["stored"] ?? 0,
      duplicates: t["duplicates"] ?? 0,
      refused: t["refused"] ?? 0,
      dropped: t["dropped"] ?? 0,
      "decode p50": time(t["decodeP50"]),
      "decode p99": time(t["decodeP99"]),
    }),
  );
}

function show(given: State): void {
  showTotals(given);
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
}

/** Puts the cards in the order of their names, and hides those that the filter does not want. */
function sort(): void {
  const order = new Intl.Collator(undefined, { numeric: true });
  const sorted = [...cards.values()].sort((a, b) => order.compare(a.name, b.name));
  main.append(...sorted.map(({ element }) => element));
  hideOthers();
}

function hideOthers(): void {
  const wanted = filter.value.trim().toLowerCase();
  for (const card of cards.values()) card.element.hidden = !card.name.toLowerCase().includes(wanted);
}

filter.addEventListener("input", hideOthers);
setInterval(() => cards.forEach((card) => card.age()), 1000);

const events = new EventSource("/events");
events.addEventListener("open", () => (state.textContent = "live"));
// The browser connects again by itself.
events.addEventListener("error", () => (state.textContent = "the host is away"));
events.addEventListener("state", (event) => show(JSON.parse((event as MessageEvent<string>).data) as State));
