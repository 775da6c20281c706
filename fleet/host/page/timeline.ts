/** The timeline of a camera over a range of time, with a lane for all frames and a lane for each label. */
import { type Place, type Span, askTimeline } from "./asks.ts";
import { fillSelect, make, makeButton, makeStatus } from "./parts.ts";
import { countOf, labelText, moment, timeOfDay } from "./words.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Ranges that a reader can choose, and the time unit of their bars. A range has 60 to 168 bars, which fit on a phone.
 */
const RANGES = [
  { name: "1 hour", length: HOUR, unit: "minute", step: MINUTE },
  { name: "24 hours", length: DAY, unit: "10 minutes", step: 10 * MINUTE },
  { name: "7 days", length: 7 * DAY, unit: "hour", step: HOUR },
  { name: "30 days", length: 30 * DAY, unit: "day", step: DAY },
] as const;

/** Largest number of lanes for labels. Readers could not distinguish more. */
const MOST_LANES = 8;
const TICKS = 4;

export interface Timeline {
  readonly element: HTMLElement;
  /** Marks the time of the shown frame. Moves the range if this time lies outside. */
  mark(time: number): void;
  /** Reads the range again. */
  refresh(): Promise<void>;
}

export interface TimelineOptions {
  readonly place: Place;
  /** Time in the middle of the first range, or at its end if the time is recent. */
  readonly start: number;
  /** Called with the time that a reader chose. */
  readonly onPick: (time: number) => void;
}

export function createTimeline({ place, start, onPick }: TimelineOptions): Timeline {
  let range: (typeof RANGES)[number] = RANGES[1];
  let to = 0;
  let marked = start;
  /** Spans of the range; null before the first answer of the host. */
  let spans: readonly Span[] | null = null;
  let turn = 0;

  const choice = make("select");
  choice.setAttribute("aria-label", "Length of the timeline");
  fillSelect(
    choice,
    RANGES.map(({ name }) => [name, name]),
  );
  choice.value = range.name;
  const title = make("p", { className: "range" });
  const said = makeStatus();
  const lanes = make("div", { className: "lanes", tabIndex: 0 });
  lanes.setAttribute("role", "slider");
  lanes.setAttribute("aria-label", "Moment on the timeline");
  const axis = make("div", { className: "axis" });
  axis.setAttribute("aria-hidden", "true");
  const moveBy = (part: number): void => show(to + part * range.length);
  const element = make(
    "section",
    { className: "timeline" },
    make("h2", { textContent: "Timeline" }),
    make(
      "div",
      { className: "row" },
      makeButton("← earlier", () => moveBy(-0.5), "Earlier on the timeline"),
      choice,
      makeButton("later →", () => moveBy(0.5), "Later on the timeline"),
      title,
    ),
    lanes,
    axis,
    said,
  );

  const endOf = (time: number): number => Math.ceil((time + 1) / range.step) * range.step;
  /** Returns the end of the range with this time in its middle, or the end of the latest range. */
  const around = (time: number): number => Math.min(time + range.length / 2, Math.max(Date.now(), time));

  /** Shows the range whose last bar contains a time. */
  function show(time: number): void {
    to = endOf(time);
    void refresh();
  }

  async function refresh(): Promise<void> {
    const own = ++turn;
    const from = to - range.length;
    title.textContent = `${moment(from)} to ${moment(to)}`;
    try {
      const query = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), unit: range.unit };
      const found = await askTimeline(place, query);
      if (own !== turn) return;
      spans = found;
      said.textContent =
        spans.length > 0 ? "" : "No frames are stored in this time. Go earlier, or choose a longer time.";
    } catch (error) {
      if (own !== turn) return;
      spans = [];
      said.textContent = (error as Error).message;
    }
    draw();
  }

  function draw(): void {
    const from = to - range.length;
    const seen = new Map<string | null, Span[]>([[null, []]]);
    for (const span of spans ?? []) seen.set(span.label, [...(seen.get(span.label) ?? []), span]);
    const framesOf = (own: readonly Span[]): number => own.reduce((sum, { frames }) => sum + frames, 0);
    const [every, ...labels] = [...seen].sort(
      ([a, own], [b, other]) => Number(b === null) - Number(a === null) || framesOf(other) - framesOf(own),
    );
    const shown = [every!, ...labels.slice(0, MOST_LANES)];
    const at = (time: number): number => (time - from) / range.length;
    lanes.replaceChildren(
      ...shown.map(([label, own]) =>
        make(
          "div",
          { className: label === null ? "lane every" : "lane" },
          make("span", { className: "name", textContent: label === null ? "all frames" : labelText(label) }),
          drawBars(own, at, range.step / range.length, at(marked)),
        ),
      ),
    );
    if (labels.length > MOST_LANES)
      said.textContent = `${countOf(labels.length - MOST_LANES, "rarer label")} not shown: search for them below.`;
    axis.replaceChildren(
      ...Array.from({ length: TICKS }, (_, i) => {
        const time = from + (i * range.length) / TICKS;
        const text = range.length > DAY ? new Date(time).toLocaleDateString(undefined, { dateStyle: "short" }) : "";
        return make("span", { textContent: text || timeOfDay(time) });
      }),
    );
    describe();
  }

  /** Sets the values of the slider for screen readers. */
  function describe(): void {
    lanes.setAttribute("aria-valuemin", String((to - range.length) / MINUTE));
    lanes.setAttribute("aria-valuemax", String(to / MINUTE));
    lanes.setAttribute("aria-valuenow", String(Math.floor(marked / MINUTE)));
    lanes.setAttribute("aria-valuetext", textOf(marked));
  }

  /** Returns a text about what is seen at a time, for screen readers. */
  function textOf(time: number): string {
    if (spans === null) return moment(time);
    const here = spans.filter(({ start }) => Date.parse(start) <= time && time < Date.parse(start) + range.step);
    const labels = here.flatMap(({ label, frames }) =>
      label === null ? [] : [`${label} in ${countOf(frames, "frame")}`],
    );
    return `${moment(time)}: ${here.length === 0 ? "no frames" : labels.join(", ") || "nothing seen"}`;
  }

  function pick(time: number): void {
    marked = Math.min(Math.max(time, to - range.length), to - 1);
    draw();
    onPick(marked);
  }

  choice.addEventListener("change", () => {
    range = RANGES.find(({ name }) => name === choice.value)!;
    show(around(marked));
  });
  lanes.addEventListener("click", (event) => {
    const { left, width } = lanes.querySelector("svg")!.getBoundingClientRect();
    pick(to - range.length + ((event.clientX - left) / width) * range.length);
  });
  lanes.addEventListener("keydown", (event) => {
    const steps: Readonly<Record<string, number>> = {
      ...{ ArrowLeft: -range.step, ArrowDown: -range.step, ArrowRight: range.step, ArrowUp: range.step },
      ...{ PageDown: -range.length / 8, PageUp: range.length / 8, Home: -range.length, End: range.length },
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    pick(marked + step);
  });
  to = endOf(around(start));
  // A slider must have values from the start, and the host's answer may take long.
  describe();
  return {
    element,
    refresh,
    mark(time) {
      marked = time;
      if (time >= to || time < to - range.length) show(around(time));
      else draw();
    },
  };
}

const SVG = "http://www.w3.org/2000/svg";

/** Draws a lane: a bar per unit, darker if more frames have the label, and the mark. */
function drawBars(spans: readonly Span[], at: (time: number) => number, width: number, mark: number): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 1 1");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const add = (name: string, x: number, wide: number, opacity: number): void => {
    const bar = document.createElementNS(SVG, "rect");
    const given = { class: name, x, y: 0, width: wide, height: 1, opacity };
    for (const [key, value] of Object.entries(given)) bar.setAttribute(key, String(value));
    svg.append(bar);
  };
  const most = Math.max(1, ...spans.map(({ frames }) => frames));
  for (const { start, frames } of spans) add("bar", at(Date.parse(start)), width, 0.35 + (0.65 * frames) / most);
  if (mark >= 0 && mark <= 1) add("mark", Math.min(mark, 0.996), 0.004, 1);
  return svg;
}
