/** The live page: listens to the host and keeps one card for each camera. */
import { type Card, createCard } from "./card.ts";
import type { State } from "./types.ts";
import { listOf, duration } from "./words.ts";

const find = (id: string): HTMLElement => document.getElementById(id)!;
const [totals, state, main, none] = [find("totals"), find("state"), find("cameras"), find("none")];
const cards = new Map<string, Card>();

function showTotals({ totals: t }: State): void {
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
  for (const camera of given.cameras) {
    let card = cards.get(camera.key);
    if (!card) {
      cards.set(camera.key, (card = createCard()));
      main.append(card.element);
    }
    card.show(camera);
  }
  none.hidden = cards.size > 0;
}

const events = new EventSource("/events");
events.addEventListener("open", () => (state.textContent = "live"));
// The browser connects again by itself.
events.addEventListener("error", () => (state.textContent = "the host is away"));
events.addEventListener("state", (event) => show(JSON.parse((event as MessageEvent<string>).data) as State));
