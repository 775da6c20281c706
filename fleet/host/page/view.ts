/** The view of one camera: a large picture, live or of a stored frame, with timeline and events. */
import { type Frame, type Place, addressOf, askFrame } from "./asks.ts";
import { fillSelect, make, makeButton, makeStatus } from "./parts.ts";
import { drawPicture } from "./picture.ts";
import { createSearch } from "./search.ts";
import { createTimeline } from "./timeline.ts";
import type { Camera, Picture } from "./types.ts";
import { ageText, countOf, labelText, moment } from "./words.ts";

/** Pixels of the longer side of an empty area that replaces a missing picture. */
const GROUND = 1280;
const ZOOMS = [1, 1.5, 2, 3, 4, 6];
/** Milliseconds between two readings of the timeline while frames arrive. */
const REFRESH_MS = 30_000;

export interface View {
  readonly element: HTMLElement;
  show(camera: Camera): void;
}

export interface ViewOptions {
  readonly place: Place;
  /** Time to show; null for the newest picture, live. */
  readonly at: number | null;
  /** Label that the first shown frame must have. */
  readonly label: string;
}

export function createView({ place, at, label }: ViewOptions): View {
  const canvas = make("canvas", { className: "picture" });
  canvas.setAttribute("role", "img");
  // An image needs a name from the start: the first picture may take long, or never come.
  canvas.setAttribute("aria-label", "No picture so far");
  const stage = make("div", { className: "stage", tabIndex: 0 }, canvas);
  stage.setAttribute("role", "region");
  stage.setAttribute("aria-label", "Picture");
  const caption = make("p", { className: "caption" });
  const said = makeStatus();
  const title = make("h2", { textContent: place.subject || place.source });
  const device = make("p", { className: "device", textContent: place.subject === "" ? "" : place.source });
  const [live, wanted] = [makeButton("Live", () => void choose(null)), make("select")];
  wanted.setAttribute("aria-label", "Frames to step through");
  const zoomed = make("output", { textContent: "100 %" });

  /** Stored frame that is shown; null to show the newest frame live. */
  let chosen: Frame | null = null;
  let camera: Camera | null = null;
  let shown = "";
  let turn = 0;
  let readAt = performance.now();

  const timeline = createTimeline({ place, start: at ?? Date.now(), onPick: (time) => void goTo(time, "") });
  const search = createSearch(place, () => null);

  async function goTo(time: number, own: string): Promise<void> {
    // Find the first frame at or after the time, or else the last one before.
    const label = own || undefined;
    await look(async () => {
      const begin = new Date(time - 1).toISOString();
      return (await askFrame(place, { after: begin, label })) ?? (await askFrame(place, { before: begin, label }));
    }, "No frame is stored at that time.");
  }

  async function step(direction: "before" | "after"): Promise<void> {
    const from = chosen?.cursor ?? camera?.picture?.time ?? new Date().toISOString();
    const which = direction === "before" ? "earlier" : "later";
    const missing = `There is no ${which} frame${wanted.value && ` with ${wanted.value}`}.`;
    await look(() => askFrame(place, { [direction]: from, label: wanted.value || undefined }), missing);
  }

  /** Shows the found frame, or says why there is none. */
  async function look(find: () => Promise<Frame | null>, missing: string): Promise<void> {
    const own = ++turn;
    try {
      const frame = await find();
      if (own !== turn) return;
      said.textContent = frame ? "" : missing;
      if (frame) choose(frame);
    } catch (error) {
      if (own === turn) said.textContent = (error as Error).message;
    }
  }

  function choose(frame: Frame | null): void {
    chosen = frame;
    if (!frame) said.textContent = "";
    live.setAttribute("aria-pressed", String(frame === null));
    const time = frame?.time ?? camera?.picture?.time;
    if (time !== undefined) timeline.mark(Date.parse(time));
    history.replaceState(null, "", addressOf(place, frame ? { at: frame.time, label: wanted.value || undefined } : {}));
    draw();
  }

  function draw(): void {
    const picture = chosen ? pictureOf(chosen, camera) : (camera?.picture ?? null);
    caption.textContent = picture ? captionOf(picture) : "No picture and no stored frame so far.";
    const state = JSON.stringify(picture);
    if (!picture || state === shown) return;
    shown = state;
    const isWanted = (): boolean => shown === state;
    const drawn = (): void => {
      canvas.dataset["frame"] = picture.id;
      canvas.setAttribute("aria-label", captionOf(picture));
    };
    const key = camera?.key ?? "";
    drawPicture(canvas, key, picture, isWanted)
      .catch(() => drawPicture(canvas, key, { ...picture, preview: null }, isWanted))
      .then(drawn, () => (shown = ""));
  }

  function zoom(by: -1 | 1): void {
    const now = ZOOMS.findIndex((one) => `${one * 100} %` === zoomed.textContent);
    const next = ZOOMS[now + by];
    if (next === undefined) return;
    const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = stage;
    const [x, y] = [(scrollLeft + clientWidth / 2) / scrollWidth, (scrollTop + clientHeight / 2) / scrollHeight];
    zoomed.textContent = `${next * 100} %`;
    canvas.style.width = `${next * 100}%`;
    canvas.classList.toggle("zoomed", next > 1);
    // Keep the centre of the visible part in the centre.
    stage.scrollTo(x * stage.scrollWidth - clientWidth / 2, y * stage.scrollHeight - clientHeight / 2);
  }

  /** Offers steps through all frames, or through those with one of the labels. */
  const offer = (labels: readonly string[]): void =>
    fillSelect(wanted, [["", "any frame"], ...labels.map((one) => [one, `frames with ${labelText(one)}`] as const)]);
  offer(label ? [label] : []);
  wanted.value = label;
  const back = make("a", { href: addressOf({ source: place.source }), textContent: "← all cameras of this device" });
  const steps = make(
    "div",
    { className: "row steps" },
    makeButton("← earlier frame", () => void step("before")),
    makeButton("later frame →", () => void step("after")),
    wanted,
    live,
    make(
      "span",
      { className: "zoom" },
      makeButton("−", () => zoom(-1), "Zoom out"),
      zoomed,
      makeButton("+", () => zoom(1), "Zoom in"),
    ),
  );
  live.setAttribute("aria-pressed", String(at === null));
  const element = make("div", { className: "view" }, back, title, device, stage, caption, steps, said);
  element.append(timeline.element, search.element);
  void timeline.refresh();
  void search.refresh();
  if (at !== null) void goTo(at, label);
  return {
    element,
    show(given) {
      const isFirst = camera === null;
      camera = given;
      if (given.name !== null && place.subject !== "") device.textContent = `${given.name} (${given.source})`;
      const labels = (given.picture?.detections ?? []).flatMap((one) => one.label ?? []);
      const known = [...wanted.options].map(({ value }) => value).filter(Boolean);
      offer([...new Set([...known, ...labels])].sort());
      if (isFirst && at === null && given.lastTime !== null) timeline.mark(Date.parse(given.lastTime));
      draw();
      if (performance.now() - readAt < REFRESH_MS) return;
      readAt = performance.now();
      if (chosen === null) void timeline.refresh();
    },
  };
}

/**
 * Returns a stored frame as a picture: the preview of the frame if the host still has it, or an empty area of its
 * shape.
 */
function pictureOf({ id, time, frame, detections }: Frame, camera: Camera | null): Picture {
  const kept = [camera?.picture, ...(camera?.strip ?? [])].find((one) => one?.id === id || one?.time === time);
  const { width = 16, height = 9 } = frame ?? {};
  const scale = GROUND / Math.max(width, height);
  const own = { id, time, detections, count: detections.length, isUnplaced: frame === null };
  return kept?.preview == null
    ? { ...own, preview: null, width: Math.round(width * scale), height: Math.round(height * scale) }
    : { ...kept, ...own };
}

function captionOf({ time, detections, count, preview, isUnplaced }: Picture): string {
  const labels = new Map<string, number>();
  for (const { label } of detections ?? []) if (label != null) labels.set(label, (labels.get(label) ?? 0) + 1);
  const kinds = [...labels].map(([label, n]) => `${n} × ${labelText(label)}`).join(", ");
  const age = Date.now() - Date.parse(time);
  return [
    `${moment(time, true)}${age > 0 ? ` (${ageText(age)} ago)` : ""}`,
    detections === null
      ? "not decoded yet"
      : count === 0
        ? "nothing seen"
        : countOf(count, "box", "boxes") + (kinds && `: ${kinds}`),
    ...(preview === null ? ["the picture is not kept, so boxes stand on an empty ground"] : []),
    ...(isUnplaced ? ["boxes are placed on the network's input"] : []),
  ].join(" · ");
}
