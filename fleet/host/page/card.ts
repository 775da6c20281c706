/** The card of one camera. Names that devices chose are set as text, never as HTML. */
import { drawPicture } from "./picture.ts";
import { addressOf } from "./asks.ts";
import { make } from "./parts.ts";
import { ageText, countOf, duration, listOf } from "./words.ts";
import { createStrip } from "./strip.ts";
import type { Camera, Picture } from "./types.ts";

export interface Card {
  readonly element: HTMLElement;
  /** Text by which cards are filtered and sorted. */
  readonly name: string;
  show(camera: Camera): void;
  /** Shows for how long the camera has been silent. Greys the card after three missed intervals. */
  age(): void;
}

/** Smallest number of silent milliseconds that grey a card, even for a fast camera. */
const LEAST_SILENCE_MS = 10_000;

export function createCard(): Card {
  const [canvas, title, counts, note] = [make("canvas"), make("h2"), make("dl"), make("p")];
  const arrival = make("p", { className: "arrival" });
  const strip = createStrip(() => show());
  const element = make("article", { className: "camera" }, canvas, strip.element, title, counts, note, arrival);
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
    // Never grey a recorded source: photos and videos end.
    const isSilent = !isRecorded && now > Math.max(LEAST_SILENCE_MS, 3 * (interval ?? 0));
    element.classList.toggle("silent", isSilent);
    const since = new Date(Date.now() - now).toLocaleString();
    arrival.textContent = isSilent ? `silent for ${ageText(now)}, since ${since}` : `arrived ${ageText(now)} ago`;
  }

  /** Shows the chosen picture: the newest, or an earlier one of a recorded source. */
  function show(): void {
    if (!last) return;
    const { key, picture: newest } = last.camera;
    const picture = strip.chosen ?? newest;
    note.textContent = noteOf(picture);
    const wanted = JSON.stringify(picture);
    if (!picture || wanted === shown) return;
    shown = wanted;
    draw(key, picture).catch(() => {
      // The host has replaced this picture by a newer one. The next event contains it.
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
      // Replace the link only if it changed, since a new link loses the focus.
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
              : // Show no latency for a recording. The note says when the frame was captured.
                !isRecorded && { latency: latency === null ? "unknown" : duration(latency) }),
        }),
      );
      strip.update(camera);
      show();
    },
  };
}

/**
 * Returns a link to the page of the camera. Its text is the camera's name, then the device's name in the hub, if known,
 * and the device's id.
 */
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
