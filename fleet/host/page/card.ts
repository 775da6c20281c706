/** The card of one camera. Names that devices chose are set as text, never as HTML. */
import { drawPicture } from "./picture.ts";
import { addressOf } from "./asks.ts";
import { make } from "./parts.ts";
import { countOf, duration, listOf } from "./words.ts";
import { createStrip } from "./strip.ts";
import type { Camera, Picture } from "./types.ts";

export interface Card {
  readonly element: HTMLElement;
  /** Text that the filter searches and cards are sorted by. */
  readonly name: string;
  show(camera: Camera): void;
  /** Says how long the camera is silent, and greys a card that is silent for three intervals. */
  age(): void;
}

/** Milliseconds of silence that say nothing about a camera, however fast it was. */
const LEAST_SILENCE_MS = 10_000;

export function createCard(): Card {
  const element = document.createElement("article");
  element.className = "camera";
  const canvas = document.createElement("canvas");
  const title = document.createElement("h2");
  const counts = document.createElement("dl");
  const [arrival, note] = [document.createElement("p"), document.createElement("p")];
  arrival.className = "arrival";
  const strip = createStrip(() => show());
  element.append(canvas, strip.element, title, counts, note, arrival);
  let last: { readonly camera: Camera; readonly at: number } | null = null;
  let shown = "";
  let newest = 0;

  async function draw(key: string, picture: Picture): Promise<void> {
    const turn = ++newest;
    let isDrawn = false;
    await drawPicture(canvas, key, picture, () => (isDrawn = turn === newest));
    if (!isDrawn) return;
    element.dataset["frame"] = picture.id;
    element.dataset["boxes"] = picture.detections ? String(picture.detections.length) : "none";
  }

  function age(): void {
    if (!last || last.camera.silence === null) return;
    const { silence, interval, isRecorded } = last.camera;
    const now = silence + performance.now() - last.at;
    // Photos and videos end.
    const isSilent = !isRecorded && now > Math.max(LEAST_SILENCE_MS, 3 * (interval ?? 0));
    element.classList.toggle("silent", isSilent);
    const since = new Date(Date.now() - now).toLocaleString();
    arrival.textContent = isSilent ? `silent for ${duration(now)}, since ${since}` : `arrived ${duration(now)} ago`;
  }

  /** Shows the picture that is chosen: the newest, or an earlier one of a recorded source. */
  function show(): void {
    if (!last) return;
    const { key, picture: newest } = last.camera;
    const picture = strip.chosen ?? newest;
    note.textContent = noteOf(picture);
    const wanted = JSON.stringify(picture);
    if (!picture || wanted === shown) return;
    shown = wanted;
    draw(key, picture).catch(() => {
      // A newer picture took its place on the host. The next event has it.
      if (shown === wanted) shown = "";
    });
  }

  return {
    element,
    age,
    get name() {
      return last ? `${last.camera.subject} ${last.camera.name ?? ""} ${last.camera.source}` : "";
    },
    show(camera) {
      last = { camera, at: performance.now() };
      age();
      const { key, frames, detections, missing, latency, age: old, clockAhead, isRecorded } = camera;
      element.dataset["key"] = key;
      const link = titleOf(camera);
      // A link that is made anew loses the focus.
      if (title.textContent !== link.textContent) title.replaceChildren(link);
      counts.replaceChildren(
        ...listOf({
          frames,
          detections,
          missing: missing ?? "unknown",
          ...(clockAhead !== null
            ? { "clock ahead by": duration(clockAhead) }
            : old !== null
              ? { captured: `${duration(old)} before` }
              : // The time from a recording to its arrival is no latency. The note says when it was captured.
                !isRecorded && { latency: latency === null ? "unknown" : duration(latency) }),
        }),
      );
      strip.update(camera);
      show();
    },
  };
}

/** Returns a link to the view of the camera: its name, then the device: its name in the hub, if known, and its id. */
function titleOf({ source, name, subject }: Camera): Node {
  const [first, ...others] = [subject, name ?? "", source].filter((text) => text !== "");
  const device = others.length === 0 ? [] : [make("span", { textContent: ` (${others.join(", ")})` })];
  return make("a", { href: addressOf({ source, subject }) }, first!, ...device);
}

function noteOf(picture: Picture | null): string {
  if (!picture) return "no picture";
  const { detections, count, preview, time, isUnplaced } = picture;
  const boxes = detections === null ? "not decoded yet" : countOf(count, "box", "boxes");
  const shown = detections && detections.length < count ? `, the best ${detections.length} shown` : "";
  const ground = preview === null ? ", without a picture" : "";
  const place = isUnplaced ? ", across the network's input" : "";
  return `${new Date(time).toLocaleString()}: ${boxes}${shown}${ground}${place}`;
}
