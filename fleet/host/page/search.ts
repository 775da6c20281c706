/** The search by label and time. Without a search, lists the latest events. */
import { type Found, type Place, type SeenEvent, addressOf, askSeen } from "./asks.ts";
import { fillSelect, make, makeButton, makeField, makeStatus } from "./parts.ts";
import { countOf, labelText, span } from "./words.ts";

const EVENTS = 20;
const REFRESH_MS = 30_000;

export interface Search {
  readonly element: HTMLElement;
  /** Lists the events, unless the focus is in the list. */
  refresh(): Promise<void>;
}

/** @param place the camera, or only a source, or nothing for all cameras */
export function createSearch(place: Partial<Place>, nameOf: (source: string) => string | null): Search {
  const label = make("select");
  fillSelect(label, [["", "anything"]]);
  const [from, to] = [0, 1].map(() => make("input", { type: "datetime-local" })) as [
    HTMLInputElement,
    HTMLInputElement,
  ];
  const list = make("ol", { className: "events" });
  const said = makeStatus();
  const more = makeButton("Show more", () => {
    most += 50;
    void search();
  });
  more.hidden = true;
  const form = make(
    "form",
    { className: "row" },
    makeField("Seen", label),
    makeField("from", from),
    makeField("to", to),
    make("button", { textContent: "Search" }),
  );
  let most = EVENTS;
  let shown = "";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    most = EVENTS;
    void search();
  });
  const timeIn = ({ value }: HTMLInputElement): string | undefined =>
    value === "" ? undefined : new Date(value).toISOString();

  async function search(): Promise<void> {
    try {
      const query = { label: label.value || undefined, from: timeIn(from), to: timeIn(to), limit: most };
      if (query.from !== undefined && query.to !== undefined && query.from >= query.to)
        throw new Error("The end of the time lies before its beginning. Change “from” or “to”.");
      show(await askSeen({ ...place, ...query }));
    } catch (error) {
      show({ labels: [], events: [], isWhole: true });
      said.textContent = (error as Error).message;
    }
  }

  function show({ labels, events, isWhole }: Found): void {
    if (labels.length > 0)
      fillSelect(label, [["", "anything"], ...labels.map((one) => [one, labelText(one)] as const)]);
    more.hidden = isWhole;
    const isFiltered = label.value !== "" || from.value !== "" || to.value !== "";
    said.textContent =
      events.length > 0
        ? ""
        : isFiltered
          ? "Nothing was seen then. Choose a longer time, or “anything”."
          : "Nothing was seen so far: no stored frame has a detection.";
    // Names of devices may come after the events.
    const wanted = JSON.stringify([events, events.map(({ source }) => nameOf(source))]);
    if (wanted === shown) return;
    shown = wanted;
    list.replaceChildren(...events.map((event) => make("li", {}, linkTo(event))));
  }

  function linkTo({ source, subject, label: seen, first, last, frames, best }: SeenEvent): HTMLElement {
    const href = addressOf({ source, subject: subject ?? "" }, { at: first, label: seen });
    const camera =
      place.subject === undefined ? `${[subject, nameOf(source) ?? source].filter(Boolean).join(", ")}: ` : "";
    const figures = `${countOf(frames, "frame")}, up to ${Math.round(best * 100)} %`;
    return make(
      "a",
      { href },
      make("strong", { textContent: labelText(seen) }),
      make("span", { className: "figures", textContent: figures }),
      make("span", { className: "when", textContent: `${camera}${span(first, last)}` }),
    );
  }

  async function refresh(): Promise<void> {
    // Do not replace a list that has the focus, since the new list would lose it.
    if (!list.contains(document.activeElement)) await search();
  }
  setInterval(() => void (document.hidden || refresh()), REFRESH_MS);
  return {
    element: make(
      "section",
      { className: "search" },
      make("h2", { textContent: "What was seen" }),
      form,
      list,
      said,
      more,
    ),
    refresh,
  };
}
